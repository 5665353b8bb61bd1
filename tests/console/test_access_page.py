"""What the access page says about both switches, made of an impact without HTTP."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from app.console.frame.parts import Consequence
from app.console.shop.access import AccessPage, Viewer, make_access_page
from app.domain.audit import AuditEntry
from app.domain.shop.lockouts import AccessChange, Lockout, LockoutReason
from app.domain.shop.settings import PasswordLoginMode, Switches
from app.domain.values.errors import Problem
from app.services.shop.impact import (
    BoundedCount,
    Impact,
    LoginModeImpact,
    PasswordStaff,
    SignInCounts,
    StorefrontImpact,
)
from app.services.shop.settings import Closing
from tests.fixtures.cases import cases

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NONE = BoundedCount(0)
MANY = BoundedCount(10_000, is_more=True)
UNDONE_BY_ONE = Lockout(people=1, apps=0)
VIEWER = Viewer(user_id=1, by_sign_on=False)
NUMBERS = SignInCounts(
    staff=4,
    staff_active=3,
    staff_without_sign_on=1,
    staff_sessions=1,
    customer_sessions=NONE,
    customers=MANY,
    customers_by_password=NONE,
    apps=BoundedCount(1),
    without_refresh=BoundedCount(2),
)
CUSTOMERS_ONLY = LoginModeImpact(
    mode=PasswordLoginMode.CUSTOMERS_ONLY,
    is_current=False,
    staff_losing_rights=1,
    staff_sessions=2,
    customers_losing_access=NONE,
    sessions_rejected=NONE,
    sessions_without_refresh=NONE,
    refusal=None,
    lockout=UNDONE_BY_ONE,
)
ENABLED = replace(
    CUSTOMERS_ONLY,
    mode=PasswordLoginMode.ENABLED,
    is_current=True,
    staff_losing_rights=0,
    staff_sessions=0,
)
DISABLED = replace(
    CUSTOMERS_ONLY,
    mode=PasswordLoginMode.DISABLED,
    customers_losing_access=MANY,
    sessions_rejected=BoundedCount(1),
)
CLOSED = StorefrontImpact(
    allow_storefront_traffic=False,
    is_current=False,
    would_refuse=1240,
    lets_through=1,
    lockout=UNDONE_BY_ONE,
)
OPEN = replace(CLOSED, allow_storefront_traffic=True, is_current=True, would_refuse=0)
IMPACT = Impact(
    counted_at=NOW,
    switches=Switches(PasswordLoginMode.ENABLED, allow_storefront_traffic=True),
    numbers=NUMBERS,
    modes=(ENABLED, CUSTOMERS_ONLY, DISABLED),
    storefront=(OPEN, CLOSED),
    staff_by_password=(),
    mode_changed=None,
    storefront_changed=None,
    closing=None,
    rejected=0,
)
CLOSING = AccessChange(allow_storefront_traffic=False)


def with_mode(impact: LoginModeImpact) -> Impact:
    """Return the impact with another one of the same mode."""
    modes = tuple(impact if one.mode is impact.mode else one for one in IMPACT.modes)
    return replace(IMPACT, modes=modes)


def chosen(page: AccessPage) -> list[str]:
    return [one.label for one in (*page.modes, *page.storefront) if one.is_chosen]


@cases(
    ("proposed", "labels"),
    [
        (None, ["Everyone", "Open"]),
        (AccessChange(password_login_mode=PasswordLoginMode.DISABLED), ["Off", "Open"]),
        (CLOSING, ["Everyone", "Closed"]),
    ],
)
def test_asked_position_is_chosen(proposed: AccessChange | None, labels: list[str]) -> None:
    assert chosen(make_access_page(IMPACT, VIEWER, proposed)) == labels


def test_mode_for_customers_counts_staff_and_sessions() -> None:
    enabled, customers_only, _ = make_access_page(IMPACT, VIEWER).modes
    assert enabled.consequences == ()
    assert customers_only.consequences == (
        Consequence("warn", "<b>1 of 3 staff</b> has no SSO identity and will lose staff access."),
        Consequence(
            "warn",
            "<b>2 staff sessions</b> started with a password or passkey and will lose staff "
            "access.",
        ),
    )


def test_current_mode_describes_the_present() -> None:
    limited = make_access_page(with_mode(replace(CUSTOMERS_ONLY, is_current=True)), VIEWER)
    assert [one.sentence for one in limited.modes[1].consequences] == [
        "<b>1 of 3 staff</b> has no SSO identity and no staff access.",
        "<b>2 staff sessions</b> started with a password or passkey and have no staff access.",
    ]
    off = make_access_page(with_mode(replace(DISABLED, is_current=True)), VIEWER)
    assert [one.sentence.partition("</b>")[2] for one in off.modes[2].consequences] == [
        " can't sign in: they have no SSO identity.",
        " can't sign in: they have no SSO identity.",
        " doesn't work until you turn passwords back on.",
    ]


def test_mode_that_takes_nothing_leaves_zeros_out() -> None:
    harmless = replace(
        CUSTOMERS_ONLY,
        staff_losing_rights=0,
        staff_sessions=0,
        customers_losing_access=NONE,
        sessions_rejected=NONE,
    )
    page = make_access_page(with_mode(harmless), VIEWER)
    assert page.modes[1].consequences == (
        Consequence("ok", "All active staff can sign in with SSO."),
    )
    disabled = replace(harmless, mode=PasswordLoginMode.DISABLED)
    (consequence,) = make_access_page(with_mode(disabled), VIEWER).modes[2].consequences
    assert consequence.state == "ok"


@cases("is_current", [False, True])
def test_disabled_mode_counts_sso_sessions_that_cannot_be_refreshed(is_current: bool) -> None:
    ending = replace(DISABLED, is_current=is_current, sessions_without_refresh=BoundedCount(1_234))
    *_, last = make_access_page(with_mode(ending), VIEWER).modes[2].consequences
    assert last == Consequence(
        "warn",
        "<b>1,234 SSO sessions</b> can't be refreshed by their identity provider: people have to "
        "sign in again when the access token expires.",
    )


def test_question_about_closing_leaves_out_that_there_were_no_requests() -> None:
    calm = replace(CLOSED, would_refuse=0)
    page = make_access_page(replace(IMPACT, storefront=(OPEN, calm)), VIEWER, CLOSING)
    assert page.question is not None
    assert [one.state for one in page.question.consequences] == ["bad", "bad", "ok"]
    assert page.question.asks_closing


def test_disabled_mode_tells_how_far_was_counted() -> None:
    customers, staff, sessions = make_access_page(IMPACT, VIEWER).modes[2].consequences
    assert customers.sentence.startswith("<b>more than 10,000 of more than 10,000 customers</b>")
    assert staff.sentence == "<b>1 of 3 staff</b> has no other way to sign in."
    assert sessions.sentence.startswith("<b>1 session</b> will stop working")
    assert {customers.state, staff.state, sessions.state} == {"bad"}


@cases(
    ("mode", "obstacle"),
    [
        (CUSTOMERS_ONLY, ""),
        (
            replace(CUSTOMERS_ONLY, refusal=Problem("DENIED", "No.")),
            "Only someone who signed in with SSO can choose this.",
        ),
        (
            replace(CUSTOMERS_ONLY, lockout=Lockout(0, 0, LockoutReason.NO_PROVIDER)),
            LockoutReason.NO_PROVIDER.value,
        ),
        (replace(CUSTOMERS_ONLY, is_current=True, refusal=Problem("DENIED", "No.")), ""),
    ],
)
def test_position_tells_why_it_cannot_be_chosen(mode: LoginModeImpact, obstacle: str) -> None:
    assert make_access_page(with_mode(mode), VIEWER).modes[1].obstacle == obstacle


@cases(
    ("closed", "state", "sentence"),
    [
        (
            CLOSED,
            "warn",
            "<b>1,240 requests</b> from customers and visitors would have been rejected",
        ),
        (replace(CLOSED, would_refuse=0), "ok", "<b>0 requests</b>"),
    ],
)
def test_closed_storefront_counts_refused_requests(
    closed: StorefrontImpact, state: str, sentence: str
) -> None:
    page = make_access_page(replace(IMPACT, storefront=(OPEN, closed)), VIEWER)
    (consequence,) = page.storefront[1].consequences
    assert consequence.state == state
    assert sentence in consequence.sentence


@cases(
    ("rejected", "state", "sentence"),
    [
        (0, "ok", "No requests have been rejected yet."),
        (1, "warn", "<b>1 request</b> from customers and visitors rejected since it closed."),
        (1240, "warn", "<b>1,240 requests</b> from customers and visitors rejected since"),
    ],
)
def test_closed_storefront_describes_its_closing(rejected: int, state: str, sentence: str) -> None:
    shut = replace(CLOSED, is_current=True)
    closing = Closing("Stocktake", NOW - timedelta(minutes=12), None)
    impact = replace(
        IMPACT,
        switches=Switches(allow_storefront_traffic=False),
        storefront=(replace(OPEN, is_current=False), shut),
        closing=closing,
        rejected=rejected,
    )
    page = make_access_page(impact, VIEWER, CLOSING)
    about, count = page.storefront[1].consequences
    assert about.sentence.endswith("12 min ago</time>. Note: “Stocktake”.")
    assert count.state == state
    assert count.sentence.startswith(sentence)
    assert page.question is not None
    assert (page.question.title, page.question.action) == (
        "Change the note and opening time?",
        "Save",
    )


CHANGE = AuditEntry(
    id=7,
    at=NOW,
    actor_kind="user",
    actor_user_id=1,
    actor_app_id=None,
    actor_name="Ada",
    address="",
    action="shop.update",
    subject_type="Shop",
    subject_id="1",
    subject_name="Shop",
    before={},
    after={},
)


@cases(
    ("change", "sentence"),
    [
        (None, ""),
        (CHANGE, "Changed by you, <time "),
        (replace(CHANGE, actor_user_id=2, actor_name="<Ada>"), "Changed by &lt;Ada&gt;, <time "),
        (
            replace(CHANGE, actor_kind="operator", actor_user_id=None),
            "Changed by a server administrator, <time ",
        ),
    ],
)
def test_last_change_names_who_made_it(change: AuditEntry | None, sentence: str) -> None:
    impact = replace(IMPACT, mode_changed=change, storefront_changed=change)
    page = make_access_page(impact, VIEWER)
    assert page.mode_changed == page.storefront_changed
    assert page.mode_changed.startswith(sentence)
    assert bool(page.mode_changed) is (change is not None)


def test_staff_are_named_as_far_as_they_are_known() -> None:
    staff = (
        PasswordStaff(1, "ada@example.com", "Ada", "", sessions=0),
        PasswordStaff(2, "bob@example.com", "", "", sessions=2),
    )
    numbers = replace(NUMBERS, staff_without_sign_on=5)
    page = make_access_page(replace(IMPACT, staff_by_password=staff, numbers=numbers), VIEWER)
    assert [(one.name, one.sessions) for one in page.staff] == [
        ("Ada", "No active sessions"),
        ("bob@example.com", "2 active sessions"),
    ]
    assert page.more == "3 more"


def test_nobody_is_left_out_when_all_are_named() -> None:
    staff = (PasswordStaff(1, "ada@example.com", "Ada", "", sessions=1),)
    page = make_access_page(replace(IMPACT, staff_by_password=staff), VIEWER)
    assert (page.staff[0].sessions, page.more) == ("1 active session", "")


@cases(
    ("mode", "action", "needs_phrase"),
    [
        (PasswordLoginMode.CUSTOMERS_ONLY, "Limit to customers", False),
        (PasswordLoginMode.DISABLED, "Turn off password login", True),
    ],
)
def test_question_about_a_mode_repeats_its_consequences(
    mode: PasswordLoginMode, action: str, needs_phrase: bool
) -> None:
    page = make_access_page(IMPACT, VIEWER, AccessChange(password_login_mode=mode))
    question = page.question
    assert question is not None
    assert (question.action, question.needs_phrase) == (action, needs_phrase)
    assert not question.is_harmless
    assert (question.name, question.value) == ("mode", mode.value)
    position = next(one for one in page.modes if one.value == mode.value)
    assert question.consequences[:-1] == position.consequences
    assert question.consequences[-1].sentence == (
        "<b>2 staff</b> with an SSO identity and <b>1 app</b> keep access."
    )


def test_question_counts_a_viewer_by_sign_on_among_those_who_go_on() -> None:
    proposed = AccessChange(password_login_mode=PasswordLoginMode.DISABLED)
    page = make_access_page(IMPACT, replace(VIEWER, by_sign_on=True), proposed)
    assert page.question is not None
    assert page.question.consequences[-1].sentence.startswith(
        "<b>2 staff</b> with an SSO identity, including you,"
    )


def test_question_about_closing_counts_requests() -> None:
    question = make_access_page(IMPACT, VIEWER, CLOSING).question
    assert question is not None
    assert (question.title, question.value) == ("Close the storefront?", "false")
    assert f'<time datetime="{NOW.isoformat()}">' in question.detail
    refused, _, passed = question.consequences
    assert refused.sentence.endswith("They sent <b>1,240 requests</b> in the last hour.")
    assert passed.sentence.endswith("<b>1 request</b> in the last hour.")


@cases(
    ("proposed", "detail", "title"),
    [
        (
            AccessChange(password_login_mode=PasswordLoginMode.ENABLED),
            "Password login is set to Everyone. Choose another option to see what it changes.",
            "Let everyone sign in with a password?",
        ),
        (
            AccessChange(allow_storefront_traffic=True),
            "The storefront is open.",
            "Open the storefront?",
        ),
    ],
)
def test_current_position_is_asked_about_only_after_a_refusal(
    proposed: AccessChange, detail: str, title: str
) -> None:
    question = make_access_page(IMPACT, VIEWER, proposed).question
    assert question is not None
    assert (question.title, question.action) == ("No change to review", "")
    assert question.detail == detail
    refused = make_access_page(IMPACT, VIEWER, proposed, ["No."]).question
    assert refused is not None
    assert (refused.title, refused.is_harmless) == (title, True)
