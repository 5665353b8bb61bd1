"""Whether a customer can sign in, as the page says it."""

from dataclasses import replace
from datetime import timedelta

from app.console.people.sign_in_checks import SignInCard, make_sign_in_card
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, ActorKind
from app.domain.authorization.permissions import Permission
from app.domain.shop.settings import PasswordLoginMode
from app.ports.throttle import BlockedIp
from app.services.console.sign_in_methods import Blocks, SignInDiagnosis, SignInState
from app.services.people.user_status import Person
from tests.console.example_people import ADA, NOW
from tests.fixtures.cases import cases

SUPPORT = Actor(ActorKind.USER, permissions=frozenset({Permission.MANAGE_USERS}))
BOSS = Actor(ActorKind.USER, permissions=frozenset(Permission))
STATE = SignInState(
    has_password=True,
    providers=(),
    mode=PasswordLoginMode.ENABLED,
    is_storefront_open=True,
    needs_confirmation=True,
)
BLOCKED = BlockedIp("203.0.113.88", (NOW + timedelta(minutes=11, seconds=30)).timestamp(), 6, 6)


def card(
    state: SignInState = STATE,
    blocks: Blocks | None = Blocks((), None),  # noqa: B008 - a plain value
    actor: Actor = SUPPORT,
    **of_user: object,
) -> SignInCard:
    user: User = replace(ADA, **of_user)  # type: ignore[arg-type]
    return make_sign_in_card(SignInDiagnosis(Person(user), state, (), blocks), actor, NOW)


def test_nothing_is_in_the_way() -> None:
    shown = card()
    assert (shown.state, shown.answer) == ("ok", "Yes.")
    assert [(check.state, check.title) for check in shown.checks] == [
        ("ok", "Account active"),
        ("ok", "Email confirmed"),
        ("ok", "Signs in with a password"),
        ("ok", "Password login is on for customers"),
        ("ok", "Storefront open"),
    ]


@cases(
    ("shown", "answer"),
    [
        (card(is_active=False), "No. The account is inactive."),
        (card(is_confirmed=False), "No. The email isn't confirmed."),
        (
            card(replace(STATE, has_password=False)),
            "No. The account has no password and no linked SSO account.",
        ),
        (
            card(replace(STATE, mode=PasswordLoginMode.DISABLED)),
            "No. Password login is off, and the account has no linked SSO account.",
        ),
        (card(replace(STATE, is_storefront_open=False)), "No. The storefront is closed."),
        (
            card(blocks=Blocks((BLOCKED,), None)),
            "No. The customer's IP address is blocked for 12 more min.",
        ),
    ],
)
def test_reason_is_named(shown: SignInCard, answer: str) -> None:
    assert (shown.state, shown.answer) == ("bad", answer)


@cases(
    "shown",
    [
        card(replace(STATE, needs_confirmation=False), is_confirmed=False),
        card(replace(STATE, has_password=False, providers=("North ID",))),
        card(replace(STATE, providers=("North ID",), mode=PasswordLoginMode.DISABLED)),
        card(replace(STATE, mode=PasswordLoginMode.CUSTOMERS_ONLY)),
    ],
)
def test_what_does_not_matter_is_no_reason(shown: SignInCard) -> None:
    assert (shown.state, shown.answer) == ("ok", "Yes.")


def test_methods_are_named() -> None:
    def title(**changes: object) -> str:
        return card(replace(STATE, **changes)).checks[2].title  # type: ignore[arg-type]

    assert title(providers=("North ID",)) == "Signs in with a password or with North ID"
    assert title(has_password=False, providers=("A", "B")) == "Signs in with A and B"


def test_blocked_address_says_how_long_and_who_can_lift_it() -> None:
    blocks = Blocks((BLOCKED, replace(BLOCKED, failures=1)), None)
    first, second, *_ = card(blocks=blocks, actor=BOSS).checks
    assert first.detail == "203.0.113.88, 6 failed attempts. Unblocks in 12 min."
    assert second.detail == "203.0.113.88, 1 failed attempt. Unblocks in 12 min."
    assert first.unblock == "203.0.113.88"
    first, *_ = card(blocks=blocks).checks
    assert first.unblock == ""
    assert "ask someone with Manage staff" in first.detail


def test_accounts_own_block_is_a_limit_that_support_lifts() -> None:
    shown = card(blocks=Blocks((), NOW + timedelta(minutes=42)))
    assert (shown.state, shown.answer) == ("warn", "Yes. Password changes are blocked.")
    check = shown.checks[0]
    assert check.unblocks_account
    assert check.detail == "Too many incorrect current passwords. Unblocks in 42 min."


def test_unreadable_blocks_are_told() -> None:
    shown = card(blocks=None)
    assert (shown.state, shown.checks[0].title) == ("bad", "Login throttle unavailable")
    assert "until the login throttle responds" in shown.answer
