"""Rate limits by client IP and by caller, counted before the work that they bound."""

from app.domain.authorization.actor import Actor
from app.domain.sign_in import rate_limits
from app.domain.values.errors import TooManyRequests
from app.ports import Ports
from app.services.authorization.register import building_block


@building_block
def limit_rate(ports: Ports, name: str, address: str | None) -> None:
    """Count one use of ``name``, an entry of ``RATE_LIMITS``, by the client at ``address``.

    Raises ``TooManyRequests`` when its limit is reached.
    """
    rates = ports.configuration.rate_limits.rates(name, address)
    _count(ports, name, rate_limits.client_of(address), rates)


@building_block
def within_rate(ports: Ports, name: str, key: str) -> bool:
    """Count one use by something other than a client, which ``key`` names; False if over."""
    rates = ports.configuration.rate_limits.rates(name, None)
    return not rates or not ports.rate_limiter.count(name, key, rates)


@building_block
def limit_operation(ports: Ports, actor: Actor, operation: str) -> None:
    """Count one use of the mutation ``operation``; raises as ``limit_rate`` does.

    Each mutation of a signed-in person or an app counts for them, whatever its name. The limits of
    single mutations are for clients' addresses; those of apps and staff are not counted there.
    """
    if actor.is_app:
        _limit_caller(ports, rate_limits.APP_MUTATIONS, f"app {actor.app_id}", actor)
    elif actor.is_user:
        name = rate_limits.STAFF_MUTATIONS if actor.is_staff else rate_limits.CUSTOMER_MUTATIONS
        _limit_caller(ports, name, f"user {actor.user_id}", actor)
    if operation in rate_limits.API_LIMITS and not (actor.is_app or actor.is_staff):
        limit_rate(ports, operation, actor.address)


def _limit_caller(ports: Ports, name: str, key: str, actor: Actor) -> None:
    _count(ports, name, key, ports.configuration.rate_limits.rates(name, actor.address))


def _count(ports: Ports, name: str, key: str, rates: rate_limits.Rates) -> None:
    if not rates:
        return
    wait = ports.rate_limiter.count(name, key, rates)
    if wait:
        raise TooManyRequests(wait)
