"""The IPs that the login throttle blocks: the reasons, and unblocking one."""

from http import HTTPStatus

from flask import flash, redirect, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.exports import export_items
from app.console.lists import active_filters, here_with, query_params
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import go, own_path, page
from app.console.parts import Question
from app.console.security.throttle_page import (
    COLUMNS,
    REASONS,
    SORTS,
    make_forwarding,
    make_question,
    make_throttle_page,
)
from app.console.session import actor, now, ports, visitor_here
from app.domain.values.errors import Refused
from app.domain.values.ip_addresses import parse_address
from app.domain.values.text import translatable
from app.ports.throttle import ThrottleUnavailable
from app.services.shop.traffic import list_untrusted_forwarding
from app.services.sign_in.login_throttle import BlockDetails, list_block_details, unblock_ip
from app.web.converters import one_of
from app.web.installation import installation
from app.web.translation import problem_text, text, texts

LISTED = 100
"""The number of IPs listed at most: the longest blocks."""

_UNAVAILABLE = translatable(
    "The store of sign-in attempts isn't responding. Until it does, every password sign-in is "
    "refused and no IP address can be unblocked. No changes were made."
)
_FILTERS = {"q": translatable("IP address"), "why": translatable("Reason")}

blueprint = PageGroup(
    "throttle",
    __name__,
    Entry(
        "Blocked IPs",
        "slash-circle",
        "throttle unblock rate limit address",
        Heading.SECURITY,
        needs=list_block_details,
    ),
    url_prefix="/throttle",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List blocked IPs, the longest block first; ``ask`` opens the confirmation to unblock one.

    A block ends within the hour, so there are no further pages: past the first ``LISTED`` an IP is
    found by searching for it.
    """
    blocked: tuple[BlockDetails, ...] = ()
    question: Question | None = None
    problem = ""
    address = request.args.get("address", "").strip() if _asks() else ""
    try:
        blocked = _listed()
        question = make_question(address, _block_of(address, blocked)) if address else None
    except ThrottleUnavailable:
        problem = text(_UNAVAILABLE)
    return page(
        "throttle/index.html",
        throttle=make_throttle_page(
            _sorted(_filtered(blocked)),
            make_forwarding(list_untrusted_forwarding(ports(), actor()), now()),
            question,
            limit=LISTED if len(blocked) == LISTED else 0,
            problem=problem,
        ),
        params=query_params("q", "why", "sort"),
        filters=active_filters(texts(_FILTERS), {"why": one_of(REASONS)}, {"why": texts(REASONS)}),
        reasons=texts(REASONS),
        sorts=texts(SORTS),
        back=here_with(ask=None, address=None),
        own_ip=visitor_here().address,
        trusted_proxies=[str(one) for one in installation().trusted_proxies],
    )


@blueprint.get("/export.csv")
def export() -> BaseResponse:
    """Export the listed blocked IPs."""
    try:
        blocked = _sorted(_filtered(_listed()))
    except ThrottleUnavailable:
        flash(text(_UNAVAILABLE), "bad")
        return go("console.throttle.index", **query_params("q", "why", "sort"))
    return export_items("blocked-ips", COLUMNS, blocked)


@blueprint.post("/unblock")
def unblock() -> BaseResponse:
    """Unblock an IP."""
    address = request.form.get("address", "").strip()
    try:
        unblock_ip(ports(), actor(), address)
    except ThrottleUnavailable:
        flash(text(_UNAVAILABLE), "bad")
    except Refused as refused:
        flash(" ".join(problem_text(problem) for problem in refused.problems), "bad")
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
    return go("console.throttle.index")


def _asks() -> bool:
    return request.args.get("ask") == "unblock"


def _listed() -> tuple[BlockDetails, ...]:
    """Return the longest blocks, or the one whose full IP is searched for."""
    search_text = query_params("q").get("q", "")
    address = search_text if parse_address(search_text) is not None else ""
    return list_block_details(ports(), actor(), limit=LISTED, address=address)


def _block_of(address: str, listed: tuple[BlockDetails, ...]) -> BlockDetails | None:
    found = next((block for block in listed if block.address == address), None)
    return found or next(iter(list_block_details(ports(), actor(), address=address)), None)


def _filtered(blocked: tuple[BlockDetails, ...]) -> list[BlockDetails]:
    """Return those that match the filters."""
    params = query_params("q", "why")
    part = params.get("q", "").lower()
    if parse_address(part) is not None:
        part = ""  # the list has only this IP, however it was spelled
    tries = {"accounts": "wrong_passwords", "unknown": "unknown_emails"}.get(params.get("why", ""))
    return [
        block
        for block in blocked
        if part in block.address.lower() and (tries is None or getattr(block, tries))
    ]


def _sorted(blocked: list[BlockDetails]) -> list[BlockDetails]:
    if request.args.get("sort") == "failures":
        return sorted(blocked, key=lambda block: -block.failures)
    return blocked
