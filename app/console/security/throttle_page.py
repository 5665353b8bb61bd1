"""The view model of the blocked IPs: the list, the reasons, the question before unblocking."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from app.console.exports import Columns
from app.console.formatting import exact, html_text, time_element
from app.console.parts import Consequence, Question
from app.domain.values.text import translatable
from app.services.shop.traffic import UntrustedForwarding
from app.services.sign_in.login_throttle import AccountFailures, BlockDetails
from app.web.translation import text

REASONS = {
    "accounts": translatable("Incorrect passwords"),
    "unknown": translatable("Unknown emails"),
}
SORTS = {"failures": translatable("Most failures")}


COLUMNS: Columns[BlockDetails] = {
    "ip_address": lambda block: block.address,
    "blocked_until": lambda block: block.until,
    "failures": lambda block: block.failures,
    "incorrect_passwords": lambda block: block.wrong_passwords,
    "unknown_emails": lambda block: block.unknown_emails,
    "accounts": lambda block: ", ".join(one.email for one in block.against if one.email),
}
"""The columns of the list as a file."""


@dataclass(frozen=True, slots=True)
class BlockRow:
    """A blocked IP, how often it failed, and why."""

    ip_address: str
    until: datetime
    failures: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forwarding:
    """Servers that forward requests without being trusted proxies."""

    title: str
    peers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ThrottlePage:
    """The blocked IPs; ``problem`` tells that they can't be read."""

    rows: tuple[BlockRow, ...]
    summary: str
    hint: str
    problem: str
    question: Question | None
    forwarding: Forwarding | None


def make_throttle_page(
    blocked: Sequence[BlockDetails],
    forwarding: Forwarding | None = None,
    question: Question | None = None,
    *,
    limit: int = 0,
    problem: str = "",
) -> ThrottlePage:
    """Return the page that lists ``blocked``; ``limit`` is set if there can be more."""
    return ThrottlePage(
        rows=tuple(_row(block) for block in blocked),
        summary=_summary(len(blocked), limit),
        hint=_hint(limit) if limit else "",
        problem=problem,
        question=question,
        forwarding=forwarding,
    )


def make_question(ip_address: str, block: BlockDetails | None) -> Question:
    """Return the question before ``ip_address`` is unblocked, with its block if it has one."""
    consequences: tuple[Consequence, ...] = (_allowed(),)
    if block is not None and block.wrong_passwords:
        consequences = (_allowed(), _guessing(block))
    return Question(
        title=text("Unblock {ip_address}?", ip_address=ip_address),
        action=text("Unblock IP address"),
        endpoint="console.throttle.unblock",
        hidden=(("address", ip_address),),
        is_harmless=True,
        detail=text("This IP address isn't blocked now.") if block is None else _blocked(block),
        consequences=consequences,
    )


def make_forwarding(peers: Sequence[UntrustedForwarding], now: datetime) -> Forwarding | None:
    """Return the warning about ``peers``, if there are any."""
    if not peers:
        return None
    title = text(
        "{count:,} server that isn't a trusted proxy forwards requests.",
        "{count:,} servers that aren't trusted proxies forward requests.",
        count=len(peers),
    )
    return Forwarding(title, tuple(_peer(peer, now) for peer in peers))


def _peer(peer: UntrustedForwarding, now: datetime) -> Markup:
    return html_text(
        Markup("<code>{peer}</code>: {count:,} request this week, last {moment}"),
        Markup("<code>{peer}</code>: {count:,} requests this week, last {moment}"),
        peer=peer.peer,
        count=peer.requests,
        moment=time_element(peer.last_seen_at, now),
    )


def _summary(blocked: int, limit: int) -> str:
    if not blocked:
        return text("No matching IP addresses")
    if blocked == limit:
        return text("At least {count:,} blocked IPs", count=blocked)
    return text("{count:,} blocked IP", "{count:,} blocked IPs", count=blocked)


def _hint(limit: int) -> str:
    return text(
        "Only the longest block is listed. Search for an IP address to find others.",
        "The {count:,} longest blocks are listed. Search for an IP address to find others.",
        count=limit,
    )


def _row(block: BlockDetails) -> BlockRow:
    return BlockRow(block.address, block.until, _failures(block), tuple(_reasons(block)))


def _failures(block: BlockDetails) -> str:
    return text("{count:,} failed sign-in", "{count:,} failed sign-ins", count=block.failures)


def _reasons(block: BlockDetails) -> list[str]:
    reasons = []
    if block.wrong_passwords:
        reasons.append(
            text(
                "{count:,} incorrect password",
                "{count:,} incorrect passwords",
                count=block.wrong_passwords,
            )
        )
    if block.against:
        reasons.append(_accounts(block))
    if block.unknown_emails:
        reasons.append(
            text(
                "{count:,} attempt with an unknown email",
                "{count:,} attempts with unknown emails",
                count=block.unknown_emails,
            )
        )
    return reasons


def _accounts(block: BlockDetails) -> str:
    named = ", ".join(_account(account) for account in block.against)
    more = block.accounts - len(block.against)
    if more > 0:
        return text("Accounts: {named}, +{more:,} more", named=named, more=more)
    return text("Accounts: {named}", named=named)


def _account(account: AccountFailures) -> str:
    return text(
        "{email} ({failures:,})",
        email=account.email or text("a deleted account"),
        failures=account.failures,
    )


def _blocked(block: BlockDetails) -> str:
    return text(
        "Blocked until {moment} after {count:,} failed sign-in.",
        "Blocked until {moment} after {count:,} failed sign-ins.",
        count=block.failures,
        moment=exact(block.until),
    )


def _allowed() -> Consequence:
    sentence = html_text(
        Markup(
            "Clients at this IP address <b>can sign in immediately</b>. Their next failure counts "
            "as the first."
        )
    )
    return Consequence("ok", sentence)


def _guessing(block: BlockDetails) -> Consequence:
    warning = html_text(
        Markup(
            "If someone is guessing passwords, they can continue without waiting. So far: "
            "<b>{count:,} incorrect password</b>. {accounts}"
        ),
        Markup(
            "If someone is guessing passwords, they can continue without waiting. So far: "
            "<b>{count:,} incorrect passwords</b>. {accounts}"
        ),
        count=block.wrong_passwords,
        accounts=_accounts(block) if block.against else "",
    )
    return Consequence("warn", warning)
