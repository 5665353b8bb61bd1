"""Mutants of the rules about the sign-in log."""

from tests.mutations.mutant import Mutant

SIGN_IN_LOG = (
    Mutant(
        "Who manages customers alone sees attempts of customers alone",
        "app/services/sign_in_log/events.py",
        "return [_event.account_type == sign_in_log.AccountType.CUSTOMER.value]",
        "return [_event.account_type != sign_in_log.AccountType.STAFF.value]",
        "services/sign_in_log/test_events.py",
    ),
    Mutant(
        "Customers who have become staff are hidden from them",
        "app/services/sign_in_log/events.py",
        "return [*of_type, models.User.is_staff.is_not(True)] if of_type else []",
        "return of_type",
        "services/sign_in_log/test_events.py",
    ),
    Mutant(
        "What was entered as an unknown email isn't stored",
        "app/domain/sign_in/sign_in_log.py",
        'return f"{local[0]}{_HIDDEN}@{domain[0]}{_HIDDEN}"',
        "return entered",
        "adapters/test_sign_in_log.py",
    ),
    Mutant(
        "A flood from one address takes few entries",
        "app/adapters/sign_in_log.py",
        "if self.addresses[refusal.address] >= MAX_PER_ADDRESS:",
        "if self.addresses[refusal.address] < 0:",
        "adapters/test_sign_in_log.py",
    ),
    Mutant(
        "A flood from everywhere takes bounded memory",
        "app/adapters/sign_in_log.py",
        "if len(self.counted) >= MAX_REFUSALS:",
        "if len(self.counted) < 0:",
        "adapters/test_sign_in_log.py",
    ),
    Mutant(
        "Only own profile changes of customers are hidden from the audit log",
        "app/services/audit/log.py",
        "return is_own and not actor.is_staff and action in PROFILE_ACTIONS",
        "return is_own and action in PROFILE_ACTIONS",
        "services/audit/test_own_profiles.py",
    ),
    Mutant(
        "Entries are pruned only with a new export",
        "app/services/audit/entries.py",
        "if file is not None and file.exists():",
        "if file is not None and not file:",
        "services/audit/test_own_profiles.py",
    ),
    Mutant(
        "An account is unblocked by those who can manage it",
        "app/services/identity/users.py",
        "    require_manageable(actor, user)\n",
        "",
        "services/people/test_account_blocks.py",
    ),
)
