"""Records of single sign-on, without a running provider."""

from datetime import timedelta

from sqlalchemy import func, select

from app import models
from app.domain.authorization.actor import SessionOrigin
from app.domain.sign_in.sign_in_log import SignInPlace
from app.ports import Ports
from app.services.sign_in.sessions import ProviderSession, SessionStart, open_session
from tests.builders.people import NOBODY

ISSUER_THERE = "https://login.invalid"


def make_provider(
    ports: Ports, slug: str = "default", *, issuer: str = ISSUER_THERE, **values: object
) -> int:
    """Store a usable provider with ``values``; return its key."""
    settings: dict[str, object] = {
        "active": True,
        "json_web_key_set_url": f"{ISSUER_THERE}/keys",
        "user_info_url": f"{ISSUER_THERE}/user",
        "name": slug,
        **values,
    }
    with ports.database.transaction() as session:
        query = select(models.IdentityProvider).where(models.IdentityProvider.slug == slug)
        provider = session.scalar(query) or models.IdentityProvider(slug=slug)
        for name, value in {"issuer": issuer, **settings}.items():
            setattr(provider, name, value)
        session.add(provider)
        session.flush()
        return provider.id


def link_identity(
    ports: Ports, user_id: int, *, issuer: str = ISSUER_THERE, subject: str = ""
) -> int:
    """Link a user to the provider with that issuer; return the identity's key."""
    with ports.database.transaction() as session:
        identity = models.ExternalIdentity(
            user_id=user_id,
            issuer=issuer,
            subject=subject or f"subject-{user_id}",
            is_verified=True,
            created_at=ports.clock.now(),
        )
        session.add(identity)
        session.flush()
        return identity.id


def open_sso_session(
    ports: Ports,
    user_id: int,
    slug: str = "default",
    *,
    refresh_token: str = "",
    in_console: bool = False,
) -> str:
    """Open a session that began at that provider, with its refresh token; return its token."""
    of_provider = select(models.IdentityProvider.id).where(models.IdentityProvider.slug == slug)
    of_person = select(func.max(models.ExternalIdentity.id)).where(
        models.ExternalIdentity.user_id == user_id
    )
    with ports.database.transaction() as session:
        begun = ProviderSession(
            session.scalars(of_provider).one(),
            session.scalars(of_person).one(),
            refresh_token=refresh_token,
        )
        start = SessionStart(
            SessionOrigin.OIDC, begun, place=SignInPlace.CONSOLE if in_console else SignInPlace.API
        )
        return open_session(ports, NOBODY, session, user_id, start).token


def sign_in_by_grant(ports: Ports, user_id: int, provider_id: int, scope: str) -> None:
    """Open a session that began at that provider with the grant ``scope``.

    The session is of the newest identity that its person has, if there is any.
    """
    now = ports.clock.now()
    of_person = select(func.max(models.ExternalIdentity.id)).where(
        models.ExternalIdentity.user_id == user_id
    )
    with ports.database.transaction() as session:
        session.add(
            models.Session(
                token=ports.randomness.token(16),
                user_id=user_id,
                origin="oidc",
                provider_id=provider_id,
                identity_id=session.scalar(of_person),
                scope=scope,
                created_at=now,
                expires_at=now + timedelta(days=30),
            )
        )
