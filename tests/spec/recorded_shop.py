"""The people, apps and settings of the recorded installation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import compress

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from sqlalchemy import Insert, delete, exists, insert, select, update
from typing_extensions import override

from app import models
from app.adapters.keys.passwords import Argon2Hasher
from app.adapters.keys.signing_keys import RsaKeyStore
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import WORKER, SessionOrigin, anonymous
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import RenderedMail
from app.domain.shop.settings import PasswordLoginMode
from app.models.record import complete_metadata
from app.ports import Ports
from app.ports.keys import KeyPair
from app.services.accounts.email_links import make_link
from app.services.accounts.password_resets import answer_reset_requests
from app.services.keys import ring
from app.services.mails.sending import send_due_mail
from app.services.sign_in.sessions import SessionStart, open_session
from app.services.sign_in.tokens import TokenPair
from tests.builders.apps import make_app
from tests.builders.people import ADDRESS, PASSWORD, make_group, make_user, sign_in
from tests.fakes.activity import FakeActivity
from tests.fakes.sign_in_log import FakeSignInLog
from tests.fakes.strict_http import LOOPBACK
from tests.servers.own_provider import OwnProvider
from tests.spec.recorded_people import APPS, GROUPS, PEOPLE
from tests.spec.server import SECRET, VENDOR

DOMAIN = "example.com"
_AHEAD = 60
"""Seconds by which made-up failures of a blocked address lie ahead of the present."""
_TABLES = complete_metadata().sorted_tables
_ARE_FILLED = select(*(exists(select(1).select_from(table)) for table in _TABLES))


class OpenKeyStore(RsaKeyStore):
    """Keys as the installation has them, which also lets a test forge with the right one."""

    def private_key(self, pair: KeyPair) -> RSAPrivateKey:
        return self._open(pair)


class _OneHash(Argon2Hasher):
    """Hash the shared password once: a hash takes a tenth of a second."""

    def __init__(self) -> None:
        super().__init__()
        self._known = super().hash(PASSWORD)

    @override
    def hash(self, password: str) -> str:
        return self._known if password == PASSWORD else super().hash(password)


@dataclass(slots=True)
class Mailbox:
    """A mailer that collects mails."""

    mails: list[RenderedMail] = field(default_factory=list)

    def send(self, letter: RenderedMail) -> None:
        self.mails.append(letter)

    def check(self) -> bool:
        return False


@dataclass(slots=True)
class RecordedShop:
    """The people (by the word before the ``@``), the apps' tokens, and what they did so far.

    ``issuer`` is the address of the server that the sessions are for.
    """

    database_url: str
    ports: Ports
    people: Mapping[str, int]
    apps: Mapping[str, tuple[int, str]]
    issuer: str = ""
    own_provider: OwnProvider | None = None
    _sessions: dict[str, TokenPair] = field(default_factory=dict)
    _origin: Sequence[tuple[Insert, list[dict[str, object]]]] = ()
    _turns: int = 0

    @property
    def provider(self) -> OwnProvider:
        """Add a usable identity provider."""
        assert self.own_provider is not None, "this world was made without one"
        return self.own_provider

    def session(self, name: str) -> TokenPair:
        """Return the tokens of a person's first password session, the same for the whole test."""
        if name not in self._sessions:
            self._sessions[name] = self.sign_in(name)
        return self._sessions[name]

    def access(self, name: str) -> str:
        return self.session(name).access

    def refresh(self, name: str) -> str:
        return self.session(name).refresh

    def app_token(self, name: str) -> str:
        return self.apps[name][1]

    def sign_in(self, name: str, origin: SessionOrigin = SessionOrigin.PASSWORD) -> TokenPair:
        """Open a session of that origin in any login mode."""
        caller = anonymous(address=ADDRESS, issuer=self.issuer)
        return sign_in(self.ports, self.people[name], origin, caller)

    def session_of_inactive(self) -> str:
        """The claim ``token`` of the inactive user's session."""
        caller, user = anonymous(issuer=self.issuer), self.people["inactive"]
        with self.ports.database.transaction() as session:
            opened = open_session(
                self.ports, caller, session, user, SessionStart(SessionOrigin.PASSWORD)
            )
        return opened.token

    def set_switches(
        self,
        mode: PasswordLoginMode = PasswordLoginMode.ENABLED,
        *,
        allow_storefront_traffic: bool = True,
    ) -> None:
        """Set both switches as the operator."""
        with self.ports.database.transaction() as session:
            session.execute(
                update(models.Shop).values(
                    password_login_mode=mode.value,
                    allow_storefront_traffic=allow_storefront_traffic,
                )
            )

    def mode(self) -> str:
        with self.ports.database.reading() as session:
            return session.scalars(select(models.Shop.password_login_mode)).one()

    def deactivate(self, name: str) -> None:
        with self.ports.database.transaction() as session:
            session.execute(
                update(models.User)
                .where(models.User.id == self.people[name])
                .values(is_active=False)
            )

    def end_sessions(self, name: str) -> None:
        with self.ports.database.transaction() as session:
            session.execute(
                delete(models.Session).where(models.Session.user_id == self.people[name])
            )

    def grant(self, name: str, permission: Permission) -> None:
        """Give a person a permission directly."""
        with self.ports.database.transaction() as session:
            session.add(
                models.UserPermission(user_id=self.people[name], permission=permission.value)
            )

    def take_from_groups(self, permission: Permission) -> None:
        with self.ports.database.transaction() as session:
            session.execute(
                delete(models.GroupPermission).where(
                    models.GroupPermission.permission == permission.value
                )
            )

    def fail_logins(self, address: str, count: int, name: str | None) -> None:
        """``count`` wrong passwords from ``address``, each as soon as the one before allowed it.

        They lie ahead, so that the block outlasts whatever makes this machine slow.
        """
        throttle = self.ports.throttle
        now = self.ports.clock.timestamp() + _AHEAD
        for _ in range(count):
            attempt = throttle.begin(address, now)
            assert attempt.lease, "the address is blocked already"
            now += throttle.fail(address, attempt.lease, self._user(name), now)

    def count_failures(self, address: str, count: int, name: str | None) -> None:
        """Record that many failures of ``address`` now."""
        now = self.ports.clock.timestamp()
        for _ in range(count):
            self.ports.throttle.fail(address, "", self._user(name), now)

    def _user(self, name: str | None) -> int | None:
        return None if name is None else self.people[name]

    def age_keys(self) -> None:
        """Backdate the keys' publication by an hour, so that they can sign."""
        with self.ports.database.transaction() as session:
            for key in session.scalars(select(models.SigningKey)):
                key.published_at -= timedelta(hours=1)

    def reset_link(self, name: str) -> str:
        """Return the token of a link to set that person's password."""
        with self.ports.database.transaction() as session:
            user = session.get_one(models.User, self.people[name])
            return make_link(self.ports, session, user, LinkPurpose.SET_PASSWORD)

    def work(self) -> list[RenderedMail]:
        """Do what the worker does beside the server; the letters that went out meanwhile."""
        box = Mailbox()
        ports = replace(self.ports, mailer=box)
        answer_reset_requests(ports, WORKER)
        send_due_mail(ports, WORKER)
        return box.mails

    def signer(self) -> tuple[KeyPair, RSAPrivateKey]:
        """Return the signing key with its private part."""
        pair = ring(self.ports).signer
        assert isinstance(self.ports.keys, OpenKeyStore)
        return pair, self.ports.keys.private_key(pair)

    def put_back(self) -> None:
        """Reset every row to its initial state."""
        self._sessions.clear()
        with self.ports.database.transaction() as session:
            connection = session.connection()
            filled = connection.execute(_ARE_FILLED).one()
            for table in reversed(list(compress(_TABLES, filled))):
                connection.exec_driver_sql(f"DELETE FROM {table.name}")  # noqa: S608
            for inserted, rows in self._origin:
                connection.execute(inserted, rows)
            # A version is never used twice: the server remembers what it read at each.
            self._turns += 1
            session.execute(update(models.Shop).values(providers_version=1000 * self._turns))
        if self.own_provider is not None:
            self.own_provider.people.clear()

    def close(self) -> None:
        self.ports.database.close()


def make_recorded_shop(database_url: str, provider: OwnProvider | None = None) -> RecordedShop:
    """Fill a migrated database; the keys are made at once, for it is they that take long."""
    settings = Settings(
        database_url=database_url,
        secret_key=SECRET,
        vendor=VENDOR,
        outgoing_allowed_networks=LOOPBACK,
    )
    connected = connect(settings)
    ports = replace(
        connected,
        keys=OpenKeyStore(SECRET),
        passwords=_OneHash(),
        activity=FakeActivity(),
        sign_in_log=FakeSignInLog(),
    )
    ring(ports)
    groups = {name: make_group(ports, name, *permissions) for name, permissions in GROUPS.items()}
    people = {
        name: make_user(
            ports,
            f"{name}@{DOMAIN}",
            password=PASSWORD if person.has_password else None,
            first_name=person.first_name,
            last_name=person.last_name,
            groups=[groups[group] for group in person.groups],
            is_staff=person.is_staff,
            is_superuser=person.is_superuser,
            is_active=person.is_active,
        )
        for name, person in PEOPLE.items()
    }
    apps = {
        name: make_app(ports, name.lower(), *permissions, is_active=name != "INACTIVE")
        for name, permissions in APPS.items()
    }
    return RecordedShop(
        database_url, ports, people, apps, own_provider=provider, _origin=_rows(ports)
    )


def _rows(ports: Ports) -> list[tuple[Insert, list[dict[str, object]]]]:
    """Return what gives each table that has rows the same again."""
    with ports.database.reading() as session:
        found = [
            (table, [dict(row) for row in session.execute(select(table)).mappings()])
            for table in _TABLES
        ]
    return [(insert(table), rows) for table, rows in found if rows]
