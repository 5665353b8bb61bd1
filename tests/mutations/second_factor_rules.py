"""Mutants of the rules of second factors."""

from tests.mutations.mutant import Mutant

SECOND_FACTORS = (
    Mutant(
        "A code of the step before a used one is refused",
        "app/domain/second_factors.py",
        "if is_right and step > last_step and found is None:",
        "if is_right and step != last_step and found is None:",
        "domain/second_factors/test_one_time_codes.py",
    ),
    Mutant(
        "A code of two steps counts for the later one",
        "app/domain/second_factors.py",
        "if is_right and step > last_step and found is None:",
        "if is_right and step > last_step:",
        "domain/second_factors/test_one_time_codes.py",
    ),
    Mutant(
        "Of parallel uses of a one-time code, one is accepted",
        "app/services/second_factors/factor_checks.py",
        "            app.last_step < step,\n",
        "",
        "hostile/test_second_factors_codes.py",
    ),
    Mutant(
        "A code of a phone that was replaced meanwhile is refused",
        "app/services/second_factors/factor_checks.py",
        "            app.secret == stored.secret,\n",
        "",
        "hostile/test_second_factors_codes.py",
    ),
    Mutant(
        "Of parallel uses of a recovery code, one is accepted",
        "app/services/second_factors/factor_checks.py",
        ".where(*unused, record.code_hash == code_hash)",
        ".where(*unused[:2], record.code_hash == code_hash)",
        "hostile/test_second_factors_codes.py",
    ),
    Mutant(
        "A recovery code that was replaced meanwhile is refused",
        "app/services/second_factors/factor_checks.py",
        ".where(*unused, record.code_hash == code_hash)",
        ".where(*unused)",
        "hostile/test_second_factors_codes.py",
    ),
    Mutant(
        "A setup belongs to the session that began it",
        "app/services/accounts/authenticator_apps.py",
        'return secret if session_id == str(actor.session_id) else ""',
        "return secret",
        "hostile/test_second_factors_codes.py",
    ),
    Mutant(
        "The last factor stays while staff need one",
        "app/services/second_factors/challenges.py",
        "if is_required and user.is_staff:",
        "if is_required and user.is_superuser:",
        "services/accounts/test_authenticator_apps.py",
    ),
    Mutant(
        "A link 'This wasn't me' survives a stranger's new email",
        "app/domain/accounts/email_links.py",
        'email = account.email if purpose is LinkPurpose.NOT_ME else ""',
        "email = account.email",
        "services/accounts/test_account_securing.py",
    ),
    Mutant(
        "A former email of a customer doesn't get a staff account",
        "app/domain/accounts/email_links.py",
        "return _digest([purpose.value, email, account.is_active, account.is_staff])",
        "return _digest([purpose.value, email, account.is_active])",
        "services/accounts/test_account_securing.py",
    ),
    Mutant(
        "The first of several email changes wins",
        "app/services/accounts/account_securing.py",
        "link.id > opened.id",
        "link.id != opened.id",
        "services/accounts/test_account_securing.py",
    ),
    Mutant(
        "Only the account's owner gets a link 'This wasn't me'",
        "app/services/outbox/security_notices.py",
        "return actor.kind is ActorKind.ANONYMOUS or actor.user_id == user.id",
        "return True",
        "services/outbox/test_security_notices.py",
    ),
    Mutant(
        "A known device isn't mailed again",
        "app/services/sign_in_log/recording.py",
        "return added is not None",
        "return True",
        "services/sign_in_log/test_known_devices.py",
    ),
    Mutant(
        "The first device isn't mailed",
        "app/services/sign_in_log/recording.py",
        "if devices > 1 and",
        "if devices > 0 and",
        "services/sign_in_log/test_known_devices.py",
    ),
)
