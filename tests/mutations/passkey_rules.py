"""Mutants of the rules of passkeys."""

from tests.mutations.mutant import Mutant

_ADAPTER = "app/adapters/keys/second_factors.py"
_CHECKS = "app/services/second_factors/factor_checks.py"
_OWN = "app/services/accounts/passkeys.py"
_HOSTILE = "hostile/test_second_factors_passkeys.py"

PASSKEYS = (
    Mutant(
        "A passkey is made only after the person was verified",
        _ADAPTER,
        "        require_user_verification=True,\n        supported",
        "        require_user_verification=False,\n        supported",
        "adapters/test_passkeys.py",
    ),
    Mutant(
        "A passkey is used only after the person was verified",
        _ADAPTER,
        "        require_user_verification=True,\n    )",
        "        require_user_verification=False,\n    )",
        "adapters/test_passkeys.py",
    ),
    Mutant(
        "A passkey isn't used in a frame of another site",
        _ADAPTER,
        'if client_data.get("crossOrigin", False) is not False:',
        "if False:",
        _HOSTILE,
    ),
    Mutant(
        "A passkey's counter must grow",
        _CHECKS,
        "counter < sign_count if sign_count",
        "counter <= sign_count if sign_count",
        _HOSTILE,
    ),
    Mutant(
        "A passkey with a counter never goes back to none",
        _CHECKS,
        "else counter == 0",
        "else counter >= 0",
        "services/second_factors/test_passkey_checks.py",
    ),
    Mutant(
        "A second factor is a passkey of the account that is asked",
        _CHECKS,
        "if asked.user_id not in (None, passkey.user_id):",
        "if False:",
        _HOSTILE,
    ),
    Mutant(
        "A passkey alone names its own account",
        _CHECKS,
        "if claim.user_handle != passkey.user_handle and (",
        "if False and (",
        _HOSTILE,
    ),
    Mutant(
        "Only asked options have an answer",
        _CHECKS,
        "if party is None or not asked.passkey_challenge:",
        "if party is None:",
        "services/second_factors/test_passkey_checks.py",
    ),
    Mutant(
        "A passkey is added in the session that began it",
        _OWN,
        "if asked.session_id != own_session(actor):",
        "if False:",
        _HOSTILE,
    ),
    Mutant(
        "A passkey is its owner's to rename and delete",
        _OWN,
        "if passkey is None or passkey.user_id != user_id:",
        "if passkey is None:",
        "services/accounts/test_passkeys.py",
    ),
    Mutant(
        "A passkey alone needs password login",
        "app/services/sign_in/second_factor_sign_in.py",
        "    sessions.require_password_login(load_shop_state(ports).switches)\n    purpose",
        "    purpose",
        "services/sign_in/test_passkey_sign_in.py",
    ),
)
