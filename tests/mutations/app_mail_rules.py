"""Mutants of the rules about emails that an app sends."""

from tests.mutations.mutant import Mutant

_FILE = "app/services/mails/sending.py"
_TESTS = "services/mails/test_app_mail.py"

APP_MAIL = (
    Mutant(
        "An email of a killed worker is sent by another after five minutes",
        _FILE,
        "_LEASE = timedelta(minutes=5)",
        "_LEASE = timedelta(hours=8)",
        "services/mails/test_app_mail_crashes.py",
    ),
    Mutant(
        "An app that got the event without the link doesn't count",
        "app/services/deliveries/fanout.py",
        "bool(event.token) and str(event.token) in payload",
        "bool(event.token)",
        "hostile/test_app_mail.py",
    ),
    Mutant(
        "Only deliveries of a link count",
        _FILE,
        "            models.Delivery.has_link.is_(True),\n",
        "",
        "hostile/test_app_mail.py",
    ),
    Mutant(
        "What waits at a temporary endpoint isn't sent",
        _FILE,
        "            models.Webhook.target_url != TEMPORARY_URL,\n",
        "",
        _TESTS,
    ),
    Mutant(
        "A disabled webhook isn't waited for",
        _FILE,
        "        models.Webhook.is_active.is_(True),\n",
        "",
        _TESTS,
    ),
    Mutant(
        "A deactivated app isn't waited for",
        _FILE,
        "        models.App.is_active.is_(True),\n",
        "",
        _TESTS,
    ),
    Mutant(
        "An attempt that would be too late isn't waited for",
        _FILE,
        "        models.Delivery.next_attempt_at <= _mail.next_attempt_at,\n",
        "",
        _TESTS,
    ),
    Mutant(
        "An email waits until all webhooks of its event were found",
        _FILE,
        "(~is_open & ~hopeful.exists())",
        "(~hopeful.exists())",
        _TESTS,
    ),
    Mutant(
        "Emails that apps don't send anymore don't wait",
        _FILE,
        "_mail.kind.not_in(kinds) | ",
        "",
        _TESTS,
    ),
    Mutant(
        "An email that is being sent stays as it is", _FILE, '    _mail.lease == "",\n', "", _TESTS
    ),
    Mutant(
        "A newer link ends the wait of an older email",
        _FILE,
        "newer.id > _mail.id",
        "newer.id < _mail.id",
        _TESTS,
    ),
    Mutant(
        "The link of an email that an app sent isn't kept",
        _FILE,
        '"next_attempt_at": None, "sealed": ""}',
        '"next_attempt_at": None}',
        _TESTS,
    ),
    Mutant(
        "Half of a link's life is left after the wait",
        "app/domain/mails/mail.py",
        "timedelta(minutes=30)",
        "timedelta(minutes=31)",
        _TESTS,
    ),
    Mutant(
        "Someone who asks again gets the shop's email",
        "app/services/outbox/publisher.py",
        "if is_apps and not _asks_again(ports, session, mail.kind, event.subject_id):",
        "if is_apps:",
        "hostile/test_app_mail.py",
    ),
    Mutant(
        "An email that is claimed waits for no app",
        "app/services/mails/sending.py",
        "                awaited_event_id=None,\n",
        "",
        _TESTS,
    ),
)
