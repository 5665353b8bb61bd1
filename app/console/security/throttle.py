"""The IPs that the login throttle blocks: the reasons, and unblocking one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

from flask import flash, redirect, request
from markupsafe import Markup
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.formatting import breakable_ip, exact, html_text, time_element
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import own_path, redirect_to, redirect_with_message
from app.console.frame.parts import Consequence, Question, lines, moment
from app.console.frame.session import actor, now, ports
from app.console.lists.filters import Sort, choice, search
from app.console.lists.list_page import Column, EmptyState, ListPage, url_with
from app.domain.values.errors import Refused
from app.domain.values.ip_addresses import parse_address
from app.domain.values.pages import Page, PageRequest
from app.domain.values.text import translatable
from app.ports.throttle import ThrottleUnavailable
from app.services.shop.traffic import UntrustedForwarding, list_untrusted_forwarding
from app.services.sign_in.login_throttle import (
    AccountFailures,
    BlockDetails,
    list_block_details,
    unblock_ip,
)
from app.web.installation import installation
from app.web.sessions import page_visitor
from app.web.translation import reasons_text, text

REASONS = {
    "accounts": translatable("Incorrect passwords"),
    "unknown": translatable("Unknown emails"),
}


@dataclass(frozen=True, slots=True)
class Forwarding:
    """Servers that forward requests without being trusted proxies."""

    title: str
    peers: tuple[str, ...]


def make_question(ip_address: str, block: BlockDetails | None) -> Question:
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


def blocks_summary(blocked: int, limit: int) -> str:
    """Return how many IPs are listed; ``limit`` is set if there can be more."""
    if not blocked:
        return text("No matching IP addresses")
    if blocked == limit:
        return text("At least {count:,} blocked IPs", count=blocked)
    return text("{count:,} blocked IP", "{count:,} blocked IPs", count=blocked)


def limit_hint(limit: int) -> str:
    return text(
        "Only the longest block is listed. Search for an IP address to find others.",
        "The {count:,} longest blocks are listed. Search for an IP address to find others.",
        count=limit,
    )


def _failures(block: BlockDetails) -> str:
    return text("{count:,} failed sign-in", "{count:,} failed sign-ins", count=block.failures)


def reasons(block: BlockDetails) -> list[str]:
    found = []
    if block.wrong_passwords:
        found.append(
            text(
                "{count:,} incorrect password",
                "{count:,} incorrect passwords",
                count=block.wrong_passwords,
            )
        )
    if block.against:
        found.append(_accounts(block))
    if block.unknown_emails:
        found.append(
            text(
                "{count:,} attempt with an unknown email",
                "{count:,} attempts with unknown emails",
                count=block.unknown_emails,
            )
        )
    return found


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


LISTED = 100
"""The number of IPs listed at most: the longest blocks."""

_UNAVAILABLE = translatable(
    "The store of sign-in attempts isn't responding. Until it does, every password sign-in is "
    "refused and no IP address can be unblocked. No changes were made."
)


def _unblock_button(block: BlockDetails) -> Markup:
    button = Markup(
        '<span class="lk-actions"><a class="btn btn-sm btn-secondary" href="{}" aria-label="{}"'
        " data-dialog>{}</a></span>"
    )
    label = text("Unblock {ip_address} …", ip_address=block.address)
    return button.format(url_with(ask="unblock", address=block.address), label, text("Unblock …"))


def _read(_request: PageRequest, **values: Any) -> Page[BlockDetails]:
    return _narrowed(_listed(values.get("search", "")), **values)


def _narrowed(
    blocked: Sequence[BlockDetails], *, search: str = "", why: str = "", by_failures: bool = False
) -> Page[BlockDetails]:
    """Return those that match the filters, in the order of the URL."""
    # For a full address the list has only this IP, however it was spelled.
    part = "" if parse_address(search) is not None else search.lower()
    found = [
        block
        for block in blocked
        if part in block.address.lower() and (not why or getattr(block, why))
    ]
    if by_failures:
        found.sort(key=lambda block: -block.failures)
    return Page(tuple(found), (), has_next=False, has_previous=False, count=lambda: len(found))


BLOCKED_IPS = ListPage[BlockDetails](
    template="throttle/index.html",
    title="Blocked IPs",
    intro="Failed sign-ins block an IP address, longer each time, for up to one hour. You can "
    "unblock it here.",
    label="Blocked IPs",
    filter_label="Filter IP addresses",
    caption="Blocked IPs",
    read=_read,
    filters=(
        search("IP address", longest=64),
        choice(
            "why", "Reason", REASONS, {"accounts": "wrong_passwords", "unknown": "unknown_emails"}
        ),
    ),
    sorts=(
        Sort("block", "Longest block"),
        Sort("failures", "Most failures", {"by_failures": True}),
    ),
    columns=(
        Column(
            "IP address",
            lambda block: breakable_ip(block.address),
            ("lk-mono", "is-whole"),
            is_title=True,
        ),
        Column(
            "Blocked until",
            lambda block: lines(moment(block.until), exact(block.until)),
            ("is-tight",),
        ),
        Column(
            "Reason", lambda block: lines(_failures(block), *reasons(block)), ("is-cut", "is-most")
        ),
        Column("Action", _unblock_button, ("is-num",), has_buttons=True),
    ),
    is_stacked=True,
    file="blocked-ips",
    file_columns={
        "ip_address": lambda block: block.address,
        "blocked_until": lambda block: block.until,
        "failures": lambda block: block.failures,
        "incorrect_passwords": lambda block: block.wrong_passwords,
        "unknown_emails": lambda block: block.unknown_emails,
        "accounts": lambda block: ", ".join(one.email for one in block.against if one.email),
    },
    no_match="No matching IP addresses",
    empty=EmptyState(
        "check-circle-fill",
        "No blocked IPs",
        "A failed sign-in blocks an IP address for one second at first. Each further failure "
        "doubles the time, and a successful sign-in ends the block.",
    ),
)

blueprint = PageGroup(
    "throttle",
    __name__,
    Entry(
        "Blocked IPs",
        "slash-circle",
        "throttle unblock rate limit address",
        Heading.PEOPLE,
        needs=list_block_details,
    ),
    url_prefix="/throttle",
    list_name="blocked-ips",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List blocked IPs, the longest block first; ``ask`` opens the confirmation to unblock one.

    A block ends within the hour, so there are no further pages: past the first ``LISTED`` an IP is
    found by searching for it.
    """
    requested = BLOCKED_IPS.requested()
    blocked: tuple[BlockDetails, ...] = ()
    question: Question | None = None
    problem = ""
    address = ""
    if request.args.get("ask") == "unblock":
        address = request.args.get("address", "").strip()
    try:
        blocked = _listed(requested.values.get("search", ""))
        question = make_question(address, _block_of(address, blocked)) if address else None
    except ThrottleUnavailable:
        problem = text(_UNAVAILABLE)
    found = _narrowed(blocked, **requested.values)
    limit = LISTED if len(blocked) == LISTED else 0
    return BLOCKED_IPS.show(
        found,
        summary=blocks_summary(len(found.items), limit) if blocked or requested.applied else "",
        hint=limit_hint(limit) if limit else "",
        problem=problem,
        question=question,
        forwarding=make_forwarding(list_untrusted_forwarding(ports(), actor()), now()),
        back=url_with(ask=None, address=None),
        own_ip=page_visitor().address,
        trusted_proxies=[str(one) for one in installation().trusted_proxies],
    )


@blueprint.get("/export.csv")
def export() -> BaseResponse:
    try:
        return BLOCKED_IPS.export()
    except ThrottleUnavailable:
        params = BLOCKED_IPS.requested().params
        return redirect_with_message(text(_UNAVAILABLE), "bad", "console.throttle.index", **params)


@blueprint.post("/unblock")
def unblock() -> BaseResponse:
    address = request.form.get("address", "").strip()
    try:
        unblock_ip(ports(), actor(), address)
    except ThrottleUnavailable:
        flash(text(_UNAVAILABLE), "bad")
    except Refused as refused:
        flash(reasons_text(refused), "bad")
    else:
        flash(
            text("Unblocked {address}. Its failed sign-ins were cleared.", address=address), "ok"
        )
    return _back()


def _back() -> BaseResponse:
    """Return to the page that the form was on."""
    back = request.form.get("back", "")
    if back:
        return redirect(own_path(back), HTTPStatus.SEE_OTHER)
    return redirect_to("console.throttle.index")


def _listed(search: str) -> tuple[BlockDetails, ...]:
    """Return the longest blocks, or the one whose full IP is searched for."""
    address = search if parse_address(search) is not None else ""
    return list_block_details(ports(), actor(), limit=LISTED, address=address)


def _block_of(address: str, listed: tuple[BlockDetails, ...]) -> BlockDetails | None:
    found = next((block for block in listed if block.address == address), None)
    return found or next(iter(list_block_details(ports(), actor(), address=address)), None)
