"""Who is calling."""

from app.domain.authorization.actor import (
    OPERATOR,
    WORKER,
    Actor,
    ActorKind,
    SessionOrigin,
    anonymous,
)
from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.values.errors import TokenFault
from tests.fixtures.cases import cases


@cases(
    ("kind", "is_user", "is_app", "is_trusted"),
    [
        (ActorKind.USER, True, False, False),
        (ActorKind.APP, False, True, False),
        (ActorKind.OPERATOR, False, False, True),
        (ActorKind.WORKER, False, False, True),
        (ActorKind.ANONYMOUS, False, False, False),
    ],
)
def test_actor_kinds_are_distinguished(
    kind: ActorKind, is_user: bool, is_app: bool, is_trusted: bool
) -> None:
    actor = Actor(kind)

    assert (actor.is_user, actor.is_app, actor.is_trusted) == (is_user, is_app, is_trusted)


@cases("actor", [OPERATOR, WORKER])
def test_operator_and_installation_can_do_everything(actor: Actor) -> None:
    assert actor.permissions == ALL_PERMISSIONS
    assert all(actor.holds(permission) for permission in Permission)


def test_anonymous_caller_has_no_permissions() -> None:
    nobody = anonymous(address="203.0.113.7", user_agent="curl", issuer="https://shop/graphql/")

    assert nobody.permissions == frozenset()
    assert nobody.address == "203.0.113.7"
    assert (nobody.is_staff, nobody.origin, nobody.fault) == (False, SessionOrigin.NONE, None)


@cases("fault", TokenFault)
def test_invalid_credential_makes_the_caller_anonymous_with_a_fault(fault: TokenFault) -> None:
    nobody = anonymous(fault=fault)

    assert nobody.kind is ActorKind.ANONYMOUS
    assert nobody.fault is fault
