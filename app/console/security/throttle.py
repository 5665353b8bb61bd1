"""Login throttle: blocked IPs, the reasons, and unblocking one."""

from flask import flash, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.lists import here_with, tags, told
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, go, page
from app.console.session import actor, ports, visitor_here
from app.domain.values.errors import Refused, problem_text
from app.domain.values.ip_addresses import parse_address
from app.ports.throttle import ThrottleUnavailable
from app.services.shop.traffic import list_untrusted_forwarding
from app.services.sign_in.login_throttle import BlockDetails, list_block_details, unblock_ip
from app.web.installation import installation

LISTED = 100
"""How many addresses are shown at most; those with the longest wait."""

_SILENT = (
    "The store of the login attempts does not answer. Until it does, every login is refused, and "
    "nothing can be unblocked. Nothing was changed."
)
_FILTERS = {"q": "Address", "why": "Tried"}
_TRIED = {"accounts": "passwords of accounts", "unknown": "emails that nobody has"}

blueprint = PageGroup(
    "throttle",
    __name__,
    Entry("Throttle", "slash-circle", "blocked addresses unblock wait login", Heading.SECURITY),
    url_prefix="/throttle",
)


@blueprint.get("/")
def index() -> BaseResponse:
    """List blocked IPs, the longest wait first; ``ask`` opens the confirmation to unblock one.

    A block ends within the hour, so there are no further pages: past the first ``LISTED`` an IP is
    found by searching for it.
    """
    blocked: tuple[BlockDetails, ...] = ()
    asked_block: BlockDetails | None = None
    silent = ""
    asked = request.args.get("address", "").strip() if _asks() else ""
    try:
        blocked = _listed()
        asked_block = _block_of(asked, blocked) if asked else None
    except ThrottleUnavailable:
        silent = _SILENT
    peers = list_untrusted_forwarding(ports(), actor())
    return page(
        "throttle/index.html",
        found=_sorted(_narrowed(blocked)),
        is_full=len(blocked) == LISTED,
        listed=LISTED,
        silent=silent,
        peers=peers,
        told=told("q", "why", "sort"),
        tags=tags(_FILTERS, {"why": _TRIED}),
        tried=_TRIED,
        asked="" if silent else asked,
        asked_block=asked_block,
        keep=here_with(ask=None, address=None),
        own_address=visitor_here().address,
        trusted_proxies=[str(one) for one in installation().trusted_proxies],
    )


@blueprint.post("/unblock")
def unblock() -> BaseResponse:
    """Forget what is held against an address."""
    address = request.form.get("address", "").strip()
    try:
        unblock_ip(ports(), actor(), address)
    except ThrottleUnavailable:
        flash(_SILENT, "bad")
    except Refused as refused:
        flash(" ".join(problem_text(problem) for problem in refused.problems), "bad")
    else:
        return done(
            f"{address} is let go: whoever is there may sign in at once, and its failures are "
            "forgotten.",
            "console.throttle.index",
        )
    return go("console.throttle.index")


def _asks() -> bool:
    return request.args.get("ask") == "unblock"


def _listed() -> tuple[BlockDetails, ...]:
    """Return the longest blocks, or the one whose full IP is searched for."""
    wanted = told("q").get("q", "")
    address = wanted if parse_address(wanted) is not None else ""
    return list_block_details(ports(), actor(), limit=LISTED, address=address)


def _block_of(address: str, listed: tuple[BlockDetails, ...]) -> BlockDetails | None:
    found = next((one for one in listed if one.address == address), None)
    return found or next(iter(list_block_details(ports(), actor(), address=address)), None)


def _narrowed(blocked: tuple[BlockDetails, ...]) -> list[BlockDetails]:
    """Those that the address asks for."""
    asked = told("q", "why")
    text = asked.get("q", "").lower()
    if parse_address(text) is not None:
        text = ""  # the list is of that address alone, however it was spelt
    tries = {"accounts": "wrong_passwords", "unknown": "unknown_emails"}.get(asked.get("why", ""))
    return [
        one
        for one in blocked
        if text in one.address.lower() and (tries is None or getattr(one, tries))
    ]


def _sorted(blocked: list[BlockDetails]) -> list[BlockDetails]:
    if request.args.get("sort") == "failures":
        return sorted(blocked, key=lambda one: -one.failures)
    return blocked
