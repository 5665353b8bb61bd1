"""Signing in with a second factor by GraphQL."""

import json

import pytest

from app.domain.authorization.actor import SessionOrigin
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import PASSWORD, make_staff, make_user, sign_in
from tests.builders.second_factor_rule import require_second_factor
from tests.builders.second_factors import (
    make_authenticator_app,
    make_recovery_codes,
    one_time_code,
)
from tests.builders.tokens import claims_in
from tests.fakes.clock import FakeClock
from tests.graphql.shop_client import ApiClient
from tests.services.logins import EMAIL, OTHER
from tests.services.sign_in.second_factors import WRONG_CODE, make_protected

_TOKENS = "token refreshToken user { email } errors { field code message }"
CREATE = f"""mutation ($email: String, $password: String) {{
  tokenCreate(email: $email, password: $password) {{
    {_TOKENS} secondFactorChallenge {{ challenge expiresAt types }}
  }}
}}"""
VERIFY = f"""mutation ($challenge: String!, $code: String!) {{
  secondFactorVerify(challenge: $challenge, code: $code) {{ {_TOKENS} }}
}}"""
OPTIONS = """mutation ($challenge: String) {
  passkeyChallengeCreate(challenge: $challenge) { challenge options errors { field code } }
}"""
USE = f"""mutation ($challenge: String!, $answer: JSONString!) {{
  passkeyVerify(challenge: $challenge, credential: $answer) {{ {_TOKENS} }}
}}"""
PROVE = """mutation {
  secondFactorChallengeCreate {
    secondFactorChallenge { challenge types } errors { field code message }
  }
}"""
FACTORS = "{ me { secondFactors { id type name createdAt lastUsedAt } } }"
STAFF = "{ staffUsers(first: 1) { totalCount } }"


@pytest.fixture
def api(ports: Ports) -> ApiClient:
    return ApiClient(ports)


def key_of(ports: Ports, user_id: int) -> SoftwareAuthenticator:
    """Give the account a passkey."""
    key = SoftwareAuthenticator()
    make_passkey(ports, user_id, key)
    return key


def challenge_of(api: ApiClient, email: str = EMAIL) -> str:
    answer = api.run(CREATE, email=email, password=PASSWORD)
    token: str = answer["secondFactorChallenge"]["challenge"]
    return token


def test_token_create_answers_with_a_challenge(api: ApiClient, ports: Ports) -> None:
    make_recovery_codes(ports, make_protected(ports).id)
    answer = api.run(CREATE, email=EMAIL, password=PASSWORD)
    challenge = answer["secondFactorChallenge"]
    assert answer == {
        "token": None,
        "refreshToken": None,
        "user": None,
        "errors": [
            {
                "field": None,
                "code": "SECOND_FACTOR_REQUIRED",
                "message": "Enter a code or use a passkey to finish signing in.",
            }
        ],
        "secondFactorChallenge": {
            "challenge": challenge["challenge"],
            "expiresAt": "2026-03-01T12:05:00+00:00",
            "types": ["AUTHENTICATOR_APP", "RECOVERY_CODES"],
        },
    }


@pytest.mark.parametrize("password", [PASSWORD, "wrong"])
def test_other_answers_have_no_challenge(api: ApiClient, ports: Ports, password: str) -> None:
    make_user(ports)
    answer = api.run(CREATE, email=EMAIL, password=password)
    assert answer["secondFactorChallenge"] is None
    assert (answer["token"] is None) is (password != PASSWORD)


def test_code_gives_the_tokens(api: ApiClient, ports: Ports) -> None:
    user = make_protected(ports)
    code = one_time_code(ports, user.secret)
    answer = api.run(VERIFY, challenge=challenge_of(api), code=code)
    assert (answer["user"], answer["errors"]) == ({"email": EMAIL}, [])
    assert claims_in(ports, answer["token"])["amr"] == ["pwd", "otp", "mfa"]
    refreshed = api.run(
        "mutation ($token: String!) { tokenRefresh(refreshToken: $token) { token } }",
        token=answer["refreshToken"],
    )
    assert claims_in(ports, refreshed["token"])["amr"] == ["pwd", "otp", "mfa"]


def test_wrong_code_is_an_error_at_its_field(api: ApiClient, ports: Ports) -> None:
    make_protected(ports)
    answer = api.run(VERIFY, challenge=challenge_of(api), code=WRONG_CODE)
    assert answer["token"] is None
    assert answer["errors"] == [
        {
            "field": "code",
            "code": "INVALID_SECOND_FACTOR",
            "message": "Incorrect code. 4 attempts left.",
        }
    ]


def test_passkey_is_a_second_factor(api: ApiClient, ports: Ports) -> None:
    user = make_user(ports)
    key = key_of(ports, user)
    challenge = challenge_of(api)
    asked = api.run(OPTIONS, challenge=challenge)
    assert (asked["challenge"], asked["errors"]) == (challenge, [])
    assert len(json.loads(asked["options"])["allowCredentials"]) == 1
    answer = api.run(USE, challenge=challenge, answer=key.get(asked["options"]))
    assert answer["user"] == {"email": EMAIL}
    assert claims_in(ports, answer["token"])["amr"] == ["pwd", "hwk", "mfa"]


def test_passkey_alone_signs_in(api: ApiClient, ports: Ports) -> None:
    key = key_of(ports, make_user(ports))
    asked = api.run(OPTIONS)
    assert json.loads(asked["options"])["allowCredentials"] == []
    credential = key.get(asked["options"])
    answer = api.run(USE, challenge=asked["challenge"], answer=credential)
    assert answer["user"] == {"email": EMAIL}
    assert claims_in(ports, answer["token"])["amr"] == ["hwk", "mfa"]
    again = api.run(USE, challenge=asked["challenge"], answer=credential)
    assert [(one["field"], one["code"]) for one in again["errors"]] == [("challenge", "INVALID")]


def test_odd_credential_is_refused(api: ApiClient, ports: Ports, clock: FakeClock) -> None:
    key_of(ports, make_user(ports))
    for credential in ("{}", "[]", '"x"', "5", '{"id": "\\ud800"}'):
        challenge = api.run(OPTIONS)["challenge"]
        [error] = api.run(USE, challenge=challenge, answer=credential)["errors"]
        assert (error["field"], error["code"]) == ("credential", "INVALID_SECOND_FACTOR")
        clock.pass_(hours=1)  # or the next one would wait
    # null is no value of a required argument
    assert api.code(USE, challenge=api.run(OPTIONS)["challenge"], answer="null") == "GraphQLError"


def test_passkey_of_another_account_is_no_second_factor(api: ApiClient, ports: Ports) -> None:
    make_protected(ports)
    key = key_of(ports, make_user(ports, OTHER))
    challenge = challenge_of(api)
    options = api.run(OPTIONS, challenge=challenge)["options"]
    answer = api.run(USE, challenge=challenge, answer=key.get(options))
    assert [one["code"] for one in answer["errors"]] == ["INVALID_SECOND_FACTOR"]
    assert answer["token"] is None


def test_challenge_for_a_passkey_alone_takes_no_code(api: ApiClient, ports: Ports) -> None:
    user = make_protected(ports)
    challenge = api.run(OPTIONS)["challenge"]
    answer = api.run(VERIFY, challenge=challenge, code=one_time_code(ports, user.secret))
    assert [one["field"] for one in answer["errors"]] == ["challenge"]


def test_sso_session_gets_its_rights_with_the_account_s_factor(
    api: ApiClient, ports: Ports
) -> None:
    user = make_protected(ports, "boss@example.com", is_superuser=True)
    require_second_factor(ports)
    pair = sign_in(ports, user.id, SessionOrigin.OIDC)
    assert api.code(STAFF, pair.access) == "PermissionDenied"
    asked = api.run(PROVE, pair.access)["secondFactorChallenge"]
    assert asked["types"] == ["AUTHENTICATOR_APP"]
    code = one_time_code(ports, user.secret)
    answer = api.run(VERIFY, pair.access, challenge=asked["challenge"], code=code)
    assert answer["errors"] == []
    assert claims_in(ports, answer["token"])["amr"] == ["otp", "mfa"]
    assert claims_in(ports, answer["token"])["token"] == claims_in(ports, pair.access)["token"]
    for token in (answer["token"], pair.access):  # the session has them, not the token
        assert api.run(STAFF, token) == {"totalCount": 1}


def test_account_without_a_factor_cannot_prove_one(api: ApiClient, ports: Ports) -> None:
    access = sign_in(ports, make_user(ports)).access
    [error] = api.run(PROVE, access)["errors"]
    assert (error["field"], error["code"]) == (None, "NOT_FOUND")
    assert api.code(PROVE) == "PermissionDenied"


def test_me_lists_second_factors(api: ApiClient, ports: Ports) -> None:
    user = make_protected(ports)
    make_recovery_codes(ports, user.id)
    key_of(ports, user.id)
    access = sign_in(ports, user.id, amr=("pwd", "otp", "mfa")).access
    listed = api.run(FACTORS, access)["secondFactors"]
    assert [one["type"] for one in listed] == ["PASSKEY", "AUTHENTICATOR_APP", "RECOVERY_CODES"]
    assert len({one["id"] for one in listed}) == 3
    assert listed[1] | {"id": ""} == {
        "id": "",
        "type": "AUTHENTICATOR_APP",
        "name": "",
        "createdAt": "2026-03-01T12:00:00+00:00",
        "lastUsedAt": None,
    }
    other = sign_in(ports, make_user(ports, OTHER)).access
    assert api.run(FACTORS, other) == {"secondFactors": []}


def test_answers_with_tokens_list_the_second_factors_of_their_user(
    api: ApiClient, ports: Ports
) -> None:
    make_user(ports, OTHER)
    query = """mutation ($email: String, $password: String) {
      tokenCreate(email: $email, password: $password) {
        refreshToken user { secondFactors { type } } errors { code }
      }
    }"""
    created = api.run(query, email=OTHER, password=PASSWORD)
    assert (created["errors"], created["user"]) == ([], {"secondFactors": []})
    user = make_protected(ports)
    pair = sign_in(ports, user.id, amr=("pwd", "otp", "mfa"))
    query = """mutation ($token: String) {
      tokenRefresh(refreshToken: $token) { user { secondFactors { type } } }
    }"""
    refreshed = api.run(query, token=pair.refresh)
    assert refreshed["user"] == {"secondFactors": [{"type": "AUTHENTICATOR_APP"}]}


def test_managers_of_staff_see_who_has_a_factor(api: ApiClient, ports: Ports) -> None:
    make_protected(ports, is_staff=True)
    boss = make_staff(ports, "boss@example.com", Permission.MANAGE_STAFF)
    access = sign_in(ports, boss).access
    query = "{ staffUsers(first: 5) { edges { node { email secondFactors { type } } } } }"
    nodes = [edge["node"] for edge in api.run(query, access)["edges"]]
    seen = {node["email"]: [one["type"] for one in node["secondFactors"]] for node in nodes}
    assert seen == {EMAIL: ["AUTHENTICATOR_APP"], "boss@example.com": []}


def test_proof_keeps_the_audience_of_the_session(api: ApiClient, ports: Ports) -> None:
    user = make_user(ports, EMAIL)
    before = api.run(
        CREATE.replace("tokenCreate(", 'tokenCreate(audience: "app", '),
        email=EMAIL,
        password=PASSWORD,
    )
    secret = make_authenticator_app(ports, user)
    challenge = api.run(PROVE, before["token"])["secondFactorChallenge"]["challenge"]
    code = one_time_code(ports, secret)
    pair = api.run(VERIFY, before["token"], challenge=challenge, code=code)
    tokens = before["token"], pair["token"], pair["refreshToken"]
    assert [claims_in(ports, token)["aud"] for token in tokens] == ["custom:app"] * 3
