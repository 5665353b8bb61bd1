"""What the operator's commands show, in the three forms that a script may ask for."""

import json
import re
import shlex
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from string import ascii_letters

import pytest
from sqlalchemy import update

from app import models
from app.adapters.system import SystemClock
from app.domain.authorization.actor import OPERATOR, WORKER
from app.domain.authorization.permissions import Permission
from app.ports import Ports
from app.services.keys import ring
from app.services.operations.background_work import record_heartbeat
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from tests.builders.apps import make_app
from tests.builders.mails import make_mail, make_waiting_mail
from tests.builders.oauth import make_client
from tests.builders.people import make_group, make_user, sign_in
from tests.builders.sign_in_events import make_sign_in
from tests.commands.golden_files import FORMS, GOLDEN, agreed, outcome
from tests.commands.shell import run
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.one_of_each import InTurn
from tests.fixtures.ports import fake_ports

MANIFEST = "https://app.example.com/manifest"
BOB = "bob@example.com"
CASES: dict[str, dict[str, tuple[str, ...]]] = {
    "user": {
        "create": ("create", "eve@example.com", "--first-name", "Eve", "--group", "Support"),
        "create-taken": ("create", BOB),
        "list": ("list",),
        "list-staff": ("list", "--staff", "--limit", "1"),
        "list-nobody": ("list", "--search", "zebra"),
        "show": ("show", BOB),
        "show-nobody": ("show", "nobody@example.com"),
        "update": ("update", BOB, "--last-name", "Lee", "--add-group", "Support"),
        "update-nothing": ("update", BOB),
        "promote": ("promote", "ann@example.com"),
        "deactivate": ("deactivate", BOB),
        "activate": ("activate", BOB),
        "sign-out": ("sign-out", BOB),
        "reset-password": ("reset-password", BOB, "--page", "http://localhost:3000/"),
        "reset-second-factor": ("reset-second-factor", BOB, "--yes"),
        "reset-second-factor-unasked": ("reset-second-factor", BOB),
        "delete": ("delete", BOB, "--yes"),
        "delete-unasked": ("delete", BOB),
        "erase": ("erase", BOB, "--yes"),
        "erase-unasked": ("erase", BOB),
    },
    "import": {"finish-nothing": ("finish", "--yes"), "finish-unasked": ("finish",)},
    "channel": {
        "create": (
            *("create", "poland", "--name", "Poland", "--currency", "EUR"),
            *("--country", "PL"),
        ),
        "create-mistyped": (
            *("create", "poland", "--name", "Poland", "--currency", "zloty"),
            *("--country", "PL"),
        ),
        "list": ("list",),
        "update": ("update", "default-channel", "--name", "Everywhere", "--inactive"),
        "delete-last": ("delete", "default-channel", "--yes"),
    },
    "group": {
        "create": ("create", "Editors", "--permission", "manage-pages"),
        "create-taken": ("create", "Support"),
        "create-mistyped": ("create", "Editors", "--permission", "MANAGE_PAGE"),
        "list": ("list",),
        "list-none": ("list", "--search", "zebra"),
        "update": ("update", "Support", "--name", "First line", "--add-user", BOB),
        "update-nobody": ("update", "Support", "--add-user", "nobody@example.com"),
        "delete": ("delete", "Support", "--yes"),
    },
    "app": {
        "create": ("create", "Mailer", "--permission", "MANAGE_ORDERS"),
        "list": ("list",),
        "show": ("show", "Warehouse"),
        "show-nothing": ("show", "Nothing"),
        "activity": ("activity", "Warehouse"),
        "update": ("update", "Warehouse", "--name", "Store", "--no-permissions"),
        "deactivate": ("deactivate", "Warehouse"),
        "activate": ("activate", "Warehouse"),
        "delete-unasked": ("delete", "Warehouse"),
        "token-create": ("token", "create", "Warehouse", "--name", "nightly"),
        "token-list": ("token", "list", "Warehouse"),
        "token-rotate": ("token", "rotate", "1", "--overlap", "0"),
        "token-verify": ("token", "verify"),
        "token-revoke": ("token", "revoke", "1"),
        "installations": ("installations", "list"),
        "clients": ("clients", "Warehouse"),
        "link-client-refused": (
            "link-client",
            "Warehouse",
            "--client-id",
            "sync",
            "--subject",
            "sync",
        ),
        "unlink-client-none": ("unlink-client", "1"),
    },
    "oauth-client": {
        "create": ("create", "Board", "--redirect-uri", "https://board.example.com/callback"),
        "create-refused": ("create", "Board", "--scope", "everything"),
        "list": ("list",),
        "show": ("show", "forum"),
        "show-nothing": ("show", "nothing"),
        "edit": ("edit", "forum", "--name", "Board", "--first-party", "--yes"),
        "edit-first-party-unasked": ("edit", "forum", "--first-party"),
        "edit-keys-unasked": ("edit", "forum", "--key-set", '{"keys": []}'),
        "rotate-secret": ("rotate-secret", "forum", "--overlap", "0"),
        "disable": ("disable", "forum"),
        "enable": ("enable", "forum"),
        "delete": ("delete", "forum", "--yes"),
        "delete-unasked": ("delete", "forum"),
    },
    "shop": {
        "logo-none": ("logo",),
        "logo-remove": ("logo", "--remove"),
        "logo-refused": ("logo", "pyproject.toml"),
        "address": ("address",),
        "show": ("show",),
        "set": ("set", "name", "Corner shop"),
        "set-mistyped": ("set", "nam", "Corner shop"),
        "set-refused": ("set", "default-mail-sender-address", "nobody"),
        "set-sender": ("set", "password-reset-sender", "app"),
        "set-switch": ("set", "allow-storefront-traffic", "no", "--no-input"),
    },
    "sign-ins": {
        "list": ("list",),
        "list-filtered": ("list", "--result", "failed", "--since", "2h", "--limit", "1"),
        "list-none": ("list", "--search", "zebra"),
        "list-mistyped": ("list", "--method", "pasword"),
    },
    "audit": {
        "list": ("list", "--limit", "1"),
        "list-none": ("list", "--search", "zebra"),
        "prune": ("prune", "--before", "2020-01-01", "--no-export", "--yes"),
        "prune-without-export": ("prune", "--before", "2020-01-01"),
        "prune-today": ("prune", "--before", "1h", "--no-export", "--yes"),
    },
    "mail": {
        "list": ("list",),
        "list-filtered": ("list", "--status", "failed", "--since", "2h", "--limit", "1"),
        "list-none": ("list", "--search", "zebra"),
        "list-mistyped": ("list", "--kind", "password-rest"),
        "resend": ("resend", "1"),
        "resend-waiting": ("resend", "3"),
        "resend-notice": ("resend", "2"),
        "resend-nothing": ("resend", "99"),
        "template-list": ("template", "list"),
        "template-show": ("template", "show", "account-exists", "--language", "DE"),
        "template-show-nothing": (
            *("template", "show", "account-exists"),
            *("--version-number", "7"),
        ),
        "template-save": (
            *("template", "save", "account-exists", "--subject", "Hello {{ recipient }}"),
            *("--html", "<p>Hello {{ recipient }}</p>", "--text", "Hello {{ recipient }}"),
        ),
        "template-save-refused": (
            *("template", "save", "account-exists", "--subject", "Hello"),
            *("--html", "<p>\n<script>", "--text", "{{ recipient.__class__ }}"),
        ),
        "template-reset": ("template", "reset", "account-exists"),
    },
    "resume": {"nothing": (), "refused": ("--send", "all")},
    "keys": {
        "list": ("list",),
        "rotate": ("rotate", "--force"),
        "rotate-too-early": ("rotate",),
        "withdraw-unknown": ("withdraw", "A" * 43, "--yes"),
        "withdraw-refused": ("withdraw", "nothing"),
        "reseal": ("reseal",),
    },
    "oidc": {
        "show": ("show",),
        "show-all": ("show", "--all"),
        "show-nothing": ("show", "--provider", "nothing"),
        "set": ("set", "audience", "https://shop.example.com/graphql/"),
        "set-refused": ("set", "oauth_token_url", "nowhere"),
        "test": ("test",),
        "confirm": ("confirm", "--yes"),
    },
    "doctor": {"doctor": ()},
    "db": {"current": ("current",), "upgrade": ("upgrade",)},
    "demo": {"once": ("--once",)},
    "completion": {"fish": ("fish",), "of-nothing": ("tcsh",)},
}
TIME = datetime(2026, 3, 1, 9, 30, tzinfo=UTC)
_OUTPUT = re.compile(r"^\$ flask .*?\n= \d+\n\n", re.DOTALL | re.MULTILINE)


class Counted:
    """Rolls the same in every run, and another thing each time in one."""

    def __init__(self) -> None:
        self._rolls = count()

    def token(self, length: int) -> str:
        return ascii_letters[next(self._rolls) % len(ascii_letters)] * length

    def secret(self, size: int) -> bytes:
        return bytes([next(self._rolls) % 256]) * size


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory, _migrated_file: Path) -> Path:
    """A shop with two people, a group, an app and a provider that nobody has switched on."""
    file = tmp_path_factory.mktemp("furnished") / "shop.sqlite3"
    shutil.copy(_migrated_file, file)
    with _connected(file) as ports:
        make_user(ports, "ann@example.com", first_name="Ann")
        bob = make_user(ports, BOB, first_name="Bob", is_staff=True)
        sign_in(ports, bob)
        make_group(ports, "Support", Permission.MANAGE_ORDERS)
        make_app(ports, "Warehouse", Permission.MANAGE_PRODUCTS)
        make_sign_in(ports, user_id=bob, name=BOB, account_type="STAFF", in_console=True)
        make_sign_in(ports, name="z…@e…", account_type="UNKNOWN", reason="UNKNOWN_EMAIL")
        make_sign_in(ports, name=BOB, reason="INCORRECT_PASSWORD", attempts=14)
        _make_mails(ports, bob)
        save_provider(ports, OPERATOR, "default", ProviderUpdate({"client_id": "shop"}))
        ring(ports)
        make_client(ports, "Forum")
        with ports.database.transaction() as session:
            forum = update(models.OAuthClient).where(models.OAuthClient.name == "Forum")
            session.execute(forum.values(client_id="forum"))
    return file


def _make_mails(ports: Ports, bob: int) -> None:
    answer = "The mail server rejected the recipient with 550: 5.1.1 User unknown."
    deferred = "Can't connect to the mail server (TimeoutError)."
    make_mail(ports, user_id=bob, recipient=BOB)
    make_mail(ports, recipient=BOB, kind="email_changed", sent_at=None, last_error=answer)
    make_waiting_mail(
        ports,
        recipient="ann@example.com",
        kind="account_exists",
        last_error=deferred,
        attempts=3,
        attempted_at=TIME - timedelta(minutes=2),
        next_attempt_at=TIME.replace(year=2100),  # the doctor has the time of today
    )


@pytest.mark.parametrize("group", CASES)
def test_what_is_shown_is_what_was_agreed_on(furnished: Path, in_turn: InTurn, group: str) -> None:
    """Each command in each form with ``--both``, otherwise in the forms in turn."""
    for name, arguments in CASES[group].items():
        file = GOLDEN / group / f"{name}.txt"
        forms = in_turn(FORMS) if file.exists() else FORMS
        shown = {form: _transcript(furnished, group, *arguments, *form.split()) for form in forms}
        text = agreed(file, "".join(shown.values()))
        outputs = dict(zip(FORMS, _OUTPUT.findall(text), strict=True))
        assert shown == {form: outputs[form] for form in forms}


@cases("group", CASES)
def test_no_agreed_output_is_left_over(group: str) -> None:
    assert {file.stem for file in (GOLDEN / group).iterdir()} == set(CASES[group])


@contextmanager
def _connected(file: Path, *, first_key: int = 0) -> Iterator[Ports]:
    made = fake_ports(f"sqlite:///{file}", FakeClock(TIME), first_key=first_key)
    yield replace(made, randomness=Counted())
    made.database.close()


def _transcript(furnished: Path, group: str, *arguments: str) -> str:
    # One place, as each has an engine of its own, which would compile all statements again.
    file = furnished.with_name("copy.sqlite3")
    shutil.copy(furnished, file)
    with _connected(file, first_key=10) as connected:
        ports = connected
        if group == "doctor":  # it compares the time with the database's
            ports = replace(connected, clock=SystemClock())
            record_heartbeat(ports, WORKER)
        result = run(ports, group, *arguments, stdin="nothing of ours")
    if "--json" in arguments:
        json.loads(result.stdout)
    return f"$ flask {shlex.join((group, *arguments))}\n{outcome(result)}\n"
