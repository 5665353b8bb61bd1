"""The claims of OpenID Connect about a person, and ID tokens signed with the key ring."""

from collections.abc import Collection, Mapping

from sqlalchemy import select

from app import models
from app.domain.accounts.addresses import Address
from app.domain.accounts.users import User, avatar_path
from app.domain.authorization.actor import STAFF_SCOPE, Actor
from app.domain.oauth import ADDRESS, EMAIL, OPENID, PHONE, PROFILE
from app.domain.second_factors import used_second_factor
from app.domain.values.errors import PermissionDenied, TokenFault, TokenRejected
from app.ports import Ports
from app.services.accounts.stored_addresses import addresses_by_user
from app.services.authorization.register import account_owner_only, building_block, clients_with
from app.services.authorization.session_rights import effective_user, find_session_again
from app.services.keys import ring
from app.services.oauth.clients import to_client
from app.services.second_factors.stored_factors import read_factors
from app.services.sign_in.reauthentication import own_id

ISSUER_SUFFIX = "/graphql/"


@clients_with(OPENID)
@account_owner_only
def show_claims(ports: Ports, actor: Actor) -> Mapping[str, object]:
    """Return the claims of the caller's person that the token's scopes name.

    Raises ``PermissionDenied`` for a token that wasn't granted to a client with ``openid``, and
    ``TokenRejected`` if the grant or its client has ended since the caller was identified.
    """
    if actor.client is None or not actor.client.covers(OPENID):
        raise PermissionDenied(message="The token needs the scope openid.")
    found = find_session_again(ports, actor.session_id or 0, actor.user_id or 0)
    if found.found is None:
        raise TokenRejected(TokenFault.INVALID)
    user = effective_user(found.found, found.shop_state.switches)
    query = select(models.OAuthClient).where(models.OAuthClient.id == actor.client.client_id)
    with ports.database.reading() as session:
        client = session.scalar(query)
    if client is None:
        raise TokenRejected(TokenFault.INVALID)
    subject = to_client(client).subject_of(user.id)
    return claims_of(ports, actor.issuer, user, subject, actor.client.words)


@building_block
def issuer_of(actor: Actor) -> str:
    """Return the provider's issuer, the base URL of the installation.

    That of access tokens for the API is longer, so neither can stand in for the other.
    """
    return actor.issuer.removesuffix(ISSUER_SUFFIX)


@building_block
def claims_of(
    ports: Ports, api_issuer: str, user: User, subject: str, scopes: Collection[str]
) -> Mapping[str, object]:
    """Return the claims about ``user``, whose rights are those of the grant, for ``scopes``.

    See OpenID Connect Core 1.0, 5.1 and 5.4.
    """
    claims: dict[str, object] = {"sub": subject}
    if PROFILE in scopes:
        claims |= _profile(api_issuer, user)
    if EMAIL in scopes:
        claims |= {"email": user.email, "email_verified": user.is_confirmed}
    if STAFF_SCOPE in scopes:
        groups = [group.name for group in user.groups] if user.is_staff else []
        claims |= {"is_staff": user.is_staff, "groups": groups}
    if ADDRESS in scopes or PHONE in scopes:
        claims |= _contact(_default_address(ports, user), scopes)
    return claims


def _profile(api_issuer: str, user: User) -> Mapping[str, object]:
    claims: dict[str, object] = {
        "name": f"{user.first_name} {user.last_name}".strip(),
        "given_name": user.first_name,
        "family_name": user.last_name,
        "zoneinfo": user.time_zone,
        "locale": user.language_code.replace("_", "-"),
        "updated_at": int(user.updated_at.timestamp()),
    }
    if user.avatar:
        base = api_issuer.removesuffix(ISSUER_SUFFIX)
        claims["picture"] = f"{base}{avatar_path(user.avatar, None)}"
    return {name: value for name, value in claims.items() if value}


def _default_address(ports: Ports, user: User) -> Address | None:
    with ports.database.reading() as session:
        addresses = addresses_by_user(session, [user.id])[user.id]
    billing = (one for one in addresses if one.is_default_billing_address)
    shipping = (one for one in addresses if one.is_default_shipping_address)
    return next(billing, None) or next(shipping, None)


def _contact(address: Address | None, scopes: Collection[str]) -> Mapping[str, object]:
    if address is None:
        return {}
    claims: dict[str, object] = {}
    if PHONE in scopes and address.phone:
        claims["phone_number"] = address.phone
        claims["phone_number_verified"] = False
    if ADDRESS in scopes:
        street = "\n".join(filter(None, (address.street_address_1, address.street_address_2)))
        parts = {
            "street_address": street,
            "locality": address.city,
            "region": address.country_area,
            "postal_code": address.postal_code,
            "country": address.country,
        }
        claims["address"] = {name: value for name, value in parts.items() if value}
    return claims


@account_owner_only
def has_unused_factor(ports: Ports, actor: Actor) -> bool:
    """Whether the caller has a second factor, and signed in without one."""
    if used_second_factor(actor.amr):
        return False
    with ports.database.transaction() as session:
        return bool(read_factors(session, own_id(actor)).types)


@building_block
def sign_id_token(ports: Ports, claims: Mapping[str, object]) -> str:
    """Return an ID token with exactly these claims, signed with the active key."""
    return ports.keys.sign(ring(ports).signer, claims)
