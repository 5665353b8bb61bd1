"""Logins on other instances: a person's by password, an app's by its token."""

from app.domain.values.errors import PermissionDenied, Refused
from app.ports.http import Http
from app.ports.saved_logins import Profile
from app.remote.api import Api, anonymous_api
from app.remote.credentials import GivenToken
from app.remote.responses import read_as, read_text

_CREATE = """
mutation SignIn($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) {
    token refreshToken errors { field message code }
  }
}
"""
_APP = "query App { app { id name } }"


def sign_in_person(http: Http, url: str, email: str, password: str) -> Profile:
    """A session for that person; raises ``PermissionDenied`` with what the instance said no by."""
    api = anonymous_api(http, url)
    try:
        payload = api.change("tokenCreate", _CREATE, email=email, password=password)
    except Refused as refused:
        raise PermissionDenied(message=str(refused)) from None
    return read_as(
        url,
        lambda: Profile(
            url, read_text(payload, "token"), read_text(payload, "refreshToken"), email
        ),
    )


def sign_in_app(http: Http, url: str, token: str) -> Profile:
    """An app's token, after the instance knew it; raises what is wrong with it otherwise."""
    api = Api(http, url, GivenToken(token))
    data = api.ask(_APP)
    if read_as(url, lambda: data["app"]) is None:
        raise PermissionDenied(message=f"No app at {url} has this token.")
    return Profile(url, token)
