"""What can be asked of the outside: small Protocols, gathered in ``Ports``.

A Protocol's adapter and fake are in modules of the same name.
"""

from dataclasses import replace

from app.domain.values.unchanging import unchanging
from app.ports.configuration import Configuration
from app.ports.database import (
    Backups,
    Database,
    NamedRow,
    ReadSession,
    Replica,
    Schema,
    Snapshots,
    Subject,
)
from app.ports.http import Http
from app.ports.identity_provider import IdentityProvider
from app.ports.images import Images
from app.ports.import_source import ImportSources
from app.ports.keys import Encryption, KeyStore, SignatureCheck
from app.ports.mail import EmailTemplates, Mailer, OwnTemplates
from app.ports.monitoring import (
    NO_METRICS,
    NO_SECURITY_LOG,
    NO_TRACES,
    Activity,
    Metrics,
    SecurityLog,
    SignInLog,
    Traces,
)
from app.ports.passwords import PasswordHasher, PasswordStrength
from app.ports.process_cache import ProcessCache
from app.ports.queue import NO_SIGNAL, Payloads, Queue, WorkSignal
from app.ports.second_factors import AuthenticatorApps, Passkeys
from app.ports.system import Clock, PrivateFiles, Randomness
from app.ports.throttle import RateLimiter, Throttle


@unchanging
class Ports:
    """Everything a use case can use in addition to its input.

    ``lagging_database`` is where use cases declared with ``lists_from_replica`` find the items of
    a page, and those with ``counts_on_replica`` count. It is set only in requests whose lists may
    be late: see ``tolerating_lag``.
    """

    configuration: Configuration
    clock: Clock
    randomness: Randomness
    database: Database
    snapshots: Snapshots
    keys: KeyStore
    signatures: SignatureCheck
    passwords: PasswordHasher
    passkeys: Passkeys
    password_strength: PasswordStrength
    throttle: Throttle
    rate_limiter: RateLimiter
    encryption: Encryption
    authenticator_apps: AuthenticatorApps
    email_templates: EmailTemplates
    own_templates: OwnTemplates
    mailer: Mailer
    http: Http
    payloads: Payloads
    images: Images
    import_sources: ImportSources
    queue: Queue
    identity_provider: IdentityProvider
    schema: Schema
    backups: Backups
    private_files: PrivateFiles
    activity: Activity
    sign_in_log: SignInLog
    cache: ProcessCache
    metrics: Metrics = NO_METRICS
    security_log: SecurityLog = NO_SECURITY_LOG
    traces: Traces = NO_TRACES
    work_signal: WorkSignal = NO_SIGNAL
    database_clock: Clock | None = None
    replica: Replica | None = None
    lagging_database: Database | None = None

    @property
    def shared_clock(self) -> Clock:
        """The clock of the database's server, or this machine's if the database is a file.

        For moments that another host compares with its time within seconds: leases, due times,
        blocks. Clocks of hosts can differ by 60 seconds.
        """
        return self.clock if self.database_clock is None else self.database_clock

    def tolerating_lag(self) -> "Ports":
        """Return the ports of a request whose lists may be as late as the replica."""
        if self.replica is None:
            return self
        return replace(self, lagging_database=self.replica.database)
