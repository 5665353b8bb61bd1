"""Deny by default: every public function of the services says who may call it."""

import importlib
import inspect
import pkgutil

import app.services
from app.services.authorization.register import REGISTER

_WITHOUT_USE_CASES = {"authorization.register", "authorization.declarations"}


def _public_functions() -> set[str]:
    names = set()
    for module in pkgutil.walk_packages(app.services.__path__, "app.services."):
        short = module.name.removeprefix("app.services.")
        loaded = importlib.import_module(module.name)
        names |= {
            f"{short}.{name}"
            for name, value in tuple(vars(loaded).items())
            if inspect.isfunction(value)
            and value.__module__ == module.name
            and not name.startswith("_")
            and short not in _WITHOUT_USE_CASES
        }
    return names


def test_every_public_function_of_the_services_is_declared() -> None:
    functions = _public_functions()

    assert functions, "the services were not found"
    assert functions - set(REGISTER) == set()


def test_every_registered_use_case_exists() -> None:
    registered = {name for name in REGISTER if name.rpartition(".")[0] not in _WITHOUT_USE_CASES}
    assert registered - _public_functions() == set()


def test_only_listed_use_cases_write_without_rereading_the_caller() -> None:
    """Signing in and out, links from mails, refreshing, provider messages, forms sent twice."""
    _public_functions()

    assert {
        declaration.name for declaration in REGISTER.values() if not declaration.acts_as_caller
    } == {
        "accounts.account_securing.secure_account",
        "accounts.email_changes.confirm_account",
        "oauth.client_tokens.claim_assertion",
        "oauth.client_tokens.grant_app_token",
        "oauth.devices.begin_device",
        "oauth.devices.find_device",
        "oauth.devices.polls_too_often",
        "oauth.devices.use_device",
        "oauth.grants.find_code",
        "oauth.client_tokens.find_issued_token",
        "oauth.grants.find_refresh_token",
        "oauth.client_tokens.revoke_grant",
        "oauth.grants.use_code",
        "oauth.grants.use_refresh_token",
        "submissions.claim_answer",
        "submissions.find_answer",
        "submissions.keep_answer",
        "submissions.release_answer",
        "hosted.sign_in_hosted_with_password",
        "hosted.ask_for_hosted_code",
        "hosted.verify_hosted_code",
        "sign_in.email_codes.request_email_code",
        "sign_in.email_codes.verify_email_code",
        "hosted.set_hosted_password",
        "hosted.ask_for_hosted_passkey",
        "hosted.ask_for_hosted_factor",
        "hosted.sign_in_hosted_with_passkey",
        "hosted.show_waiting_hosted_sign_in",
        "hosted.verify_hosted_factor",
        "hosted.begin_hosted_sign_in",
        "hosted.finish_hosted_sign_in",
        "hosted.replace_hosted_session",
        "hosted.sign_out_of_hosted_pages",
        "console.console_sessions.ask_for_passkey_at_console",
        "console.console_sessions.begin_console_sign_in",
        "console.console_sessions.sign_in_to_console_with_passkey",
        "console.console_sessions.finish_console_sign_in",
        "console.console_sessions.set_password_at_console",
        "console.console_sessions.sign_in_to_console",
        "console.console_sessions.sign_out_of_console",
        "single_sign_on.provider_sessions.refresh_external_session",
        "single_sign_on.provider_sessions.end_sessions_by_provider",
        "single_sign_on.provider_sessions.log_out_external",
        "single_sign_on.sign_in.begin_sign_in",
        "single_sign_on.sign_in.finish_sign_in",
        "sign_in.password_login.create_token",
        "sign_in.second_factor_sign_in.challenge_passkey",
        "sign_in.second_factor_sign_in.verify_passkey",
        "sign_in.second_factor_sign_in.verify_second_factor",
        "console.console_sessions.verify_code_at_console",
        "console.console_sessions.show_waiting_sign_in",
        "console.console_sessions.challenge_passkey_at_console",
        "accounts.password_changes.set_password",
        "accounts.registration.register_account",
        "accounts.password_resets.request_password_reset",
        "sign_in.tokens.refresh_token",
    }
