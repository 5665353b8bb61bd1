"""Codes by email through the API: request, verify, second factor, audience."""

import jwt

from app.domain.authorization.actor import WORKER
from app.domain.mails.mail import MailKind
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests
from tests.builders.outbox import mails
from tests.builders.people import make_user
from tests.builders.shop import configure_shop
from tests.graphql.shop_client import ApiClient
from tests.services.sign_in.second_factors import make_protected

REQUEST = """mutation ($email: String!, $audience: String) {
  emailCodeRequest(email: $email, audience: $audience) {
    challenge expiresAt errors { field code }
  }
}"""
VERIFY = """mutation ($challenge: String!, $code: String!) {
  emailCodeVerify(challenge: $challenge, code: $code) {
    token refreshToken user { email } errors { field code }
    secondFactorChallenge { challenge types }
  }
}"""
ANN, BOB = "ann@example.com", "bob@example.com"


def test_code_signs_in(ports: Ports) -> None:
    api = ApiClient(ports)
    refused = api.run(REQUEST, email=ANN)
    assert refused["errors"] == [{"field": None, "code": "DISABLED_AUTHENTICATION_METHOD"}]
    configure_shop(ports, email_code_login=True)
    make_user(ports, ANN)
    make_protected(ports, BOB)
    emails = ANN, BOB, "unknown@example.com"
    asked = {email: api.run(REQUEST, email=email, audience="x") for email in emails}
    assert [set(each) for each in asked.values()] == [{"challenge", "expiresAt", "errors"}] * 3
    answer_reset_requests(ports, WORKER)
    codes = {mail.recipient: mail.values["code"] for mail in mails(ports, MailKind.SIGN_IN_CODE)}
    entered = api.run(VERIFY, challenge=asked[ANN]["challenge"], code=codes[ANN])
    assert entered["user"] == {"email": ANN}
    claims = jwt.decode(entered["token"], options={"verify_signature": False})
    assert claims["aud"] == "custom:x"
    held = api.run(VERIFY, challenge=asked[BOB]["challenge"], code=codes[BOB])
    assert held["token"] is None
    assert held["errors"] == [{"field": None, "code": "SECOND_FACTOR_REQUIRED"}]
    assert held["secondFactorChallenge"]["types"] == ["AUTHENTICATOR_APP"]
