"""Logins on other instances: a person's by password, an app's by its token."""

from collections.abc import Callable, Mapping
from typing import Any

from app.domain.values.errors import PermissionDenied, Refused
from app.ports.http import Http
from app.ports.instance import Profile
from app.remote.api import Api, GivenToken, anonymous_api, read_as, read_text

_CREATE = """
mutation SignIn($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) {
    token refreshToken errors { field message code }
  }
}
"""
_CHALLENGE = """
mutation AskForSecondFactor($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) {
    secondFactorChallenge { challenge }
  }
}
"""
_VERIFY = """
mutation AnswerSecondFactor($challenge: String!, $code: String!) {
  secondFactorVerify(challenge: $challenge, code: $code) {
    token refreshToken errors { field message code }
  }
}
"""
_APP = "query App { app { id name } }"


def sign_in_person(
    http: Http, url: str, email: str, password: str, read_code: Callable[[], str]
) -> Profile:
    """Open a session for that person; raises ``PermissionDenied`` with the instance's message.

    ``read_code`` returns the code of an account with a second factor.
    """
    api = anonymous_api(http, url)
    try:
        payload = _open_session(api, email, password, read_code)
    except Refused as refused:
        raise PermissionDenied(message=str(refused)) from None
    return read_as(
        url,
        lambda: Profile(
            url, read_text(payload, "token"), read_text(payload, "refreshToken"), email
        ),
    )


def _open_session(
    api: Api, email: str, password: str, read_code: Callable[[], str]
) -> Mapping[str, Any]:
    try:
        return api.change("tokenCreate", _CREATE, email=email, password=password)
    except Refused as refused:
        if refused.problems[0].code != "SECOND_FACTOR_REQUIRED":
            raise
    # Asked for only now: older versions don't have the field.
    asked = api.ask(_CHALLENGE, email=email, password=password)
    challenge = read_as(
        api.url, lambda: read_text(asked["tokenCreate"]["secondFactorChallenge"], "challenge")
    )
    return api.change("secondFactorVerify", _VERIFY, challenge=challenge, code=read_code())


def sign_in_app(http: Http, url: str, token: str) -> Profile:
    """An app's token, after the instance knew it; raises what is wrong with it otherwise."""
    api = Api(http, url, GivenToken(token))
    data = api.ask(_APP)
    if read_as(url, lambda: data["app"]) is None:
        raise PermissionDenied(message=f"No app at {url} has this token.")
    return Profile(url, token)
