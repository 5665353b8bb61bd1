"""Which adapter stands behind each port."""

from app.adapters.clock import SystemClock
from app.adapters.database import connect_database
from app.adapters.keys import RsaKeyStore
from app.adapters.passwords import Argon2Hasher
from app.adapters.randomness import SystemRandomness
from app.adapters.throttle import connect_throttle
from app.ports import Ports
from app.settings import Settings, SettingsError


def connect(settings: Settings) -> Ports:
    """The ports of an installation; nothing is opened before it is asked for.

    Raises ``SettingsError`` when ``RSA_PRIVATE_KEY`` is no key that may sign.
    """
    database = connect_database(settings.database_url)
    return Ports(
        configuration=settings.configuration,
        clock=SystemClock(),
        randomness=SystemRandomness(),
        database=database,
        keys=_keys(settings),
        passwords=Argon2Hasher(),
        throttle=connect_throttle(database, settings.redis_url),
    )


def _keys(settings: Settings) -> RsaKeyStore:
    try:
        return RsaKeyStore(settings.secret_key, settings.rsa_private_key)
    except ValueError as error:
        raise SettingsError((str(error),)) from None
