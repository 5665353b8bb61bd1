"""Mutants of the rules about what operators do on the command line."""

from tests.mutations.mutant import Mutant

OPERATIONS = (
    Mutant(
        "Demo events reach no webhook that was there before",
        "app/services/demo/timeline.py",
        "added.closed_at = added.issued_at - datetime.resolution",
        "pass",
        "services/demo/test_shop.py",
    ),
    Mutant(
        "Demo webhooks get no past deliveries of existing people",
        "app/services/demo/deliveries.py",
        "OutboxEventRecord.closed_at < OutboxEventRecord.issued_at",
        "OutboxEventRecord.closed_at.is_not(None)",
        "services/demo/test_shop.py",
    ),
    Mutant(
        "No command works on a development database by accident",
        "app/settings.py",
        "    _require_choice(files, environment)\n    return settings",
        "    return settings",
        "test_settings.py",
    ),
    Mutant(
        "The process's environment wins over settings files",
        "app/settings.py",
        "return {**written, **os.environ}",
        "return {**os.environ, **written}",
        "test_settings.py",
    ),
    Mutant(
        "Doctor fails when no one can sign in",
        "app/services/operations/sign_in_checks.py",
        "if found.mode is not PasswordLoginMode.ENABLED and not has_working_provider:",
        "if found.mode is not PasswordLoginMode.ENABLED and has_working_provider:",
        "services/operations/test_sign_in_checks.py",
    ),
    Mutant(
        "A provider without endpoints is not set up",
        "app/services/single_sign_on/provider_checks.py",
        "if not (provider.takes_tokens or provider.signs_in):",
        "if not provider:",
        "services/single_sign_on/test_provider_checks.py",
    ),
    Mutant(
        "Changes of one account queue for each other before they take a transaction",
        "app/adapters/transaction_turns.py",
        "for subject in sorted(set(subjects)):",
        "for subject in subjects[:0]:",
        "hostile/test_row_queues.py",
    ),
    Mutant(
        "A customer's transactions queue for their account",
        "app/services/authorization/current_rights.py",
        "if actor.is_user and not actor.is_staff:\n        return (own,)",
        "if actor.is_user and not actor.is_staff:\n        return ()",
        "hostile/test_row_queues.py",
    ),
    Mutant(
        "Mutations of a signed-in person are counted",
        "app/services/authorization/rate_limits.py",
        'f"user {actor.user_id}"',
        'f"user {actor.session_id} {actor.address}"',
        "hostile/test_rate_limits.py",
    ),
    Mutant(
        "A body can't have any number of small chunks",
        "app/web/request_bodies.py",
        "if self._small_pieces > _MAX_SMALL_PIECES:",
        "if self._small_pieces < 0:",
        "web/test_server.py",
    ),
    Mutant(
        "A part of a form can't have headers of any length",
        "app/web/form_bodies.py",
        "start + PART_HEADERS + 4)",
        "len(body))",
        "web/test_form_bodies.py",
    ),
    Mutant(
        "A search adds to a query's cost",
        "app/graphql/server/query_cost.py",
        "scans = SEARCH * self.texts or",
        "scans = 0 * self.texts or",
        "graphql/test_query_cost.py",
    ),
)
