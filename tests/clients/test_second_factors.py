"""A program finishes sign-ins with a second factor, as the guide shows it."""

from app.composition.settings import Settings
from app.composition.wiring import connect
from tests.builders.passkeys import SoftwareAuthenticator, make_passkey
from tests.builders.people import make_user
from tests.builders.second_factors import make_authenticator_app, make_recovery_codes
from tests.clients.conftest import CUSTOMER, PASSWORD, Shop, run_client
from tests.spec.server import SECRET

PROTECTED = "protected@example.com"


def test_program_signs_in_with_password_and_code(shop: Shop) -> None:
    ports = connect(Settings(database_url=shop.server.database_url, secret_key=SECRET))
    user = make_user(ports, PROTECTED, password=PASSWORD)
    make_authenticator_app(ports, user)
    make_passkey(ports, user, SoftwareAuthenticator())
    codes = make_recovery_codes(ports, user)
    ports.database.close()
    run_client("checks/second-factor.mjs", shop, PROTECTED, PASSWORD, codes[0], codes[1], CUSTOMER)
