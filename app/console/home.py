"""Home: what the shop's doors look like now, and what wants a look first."""

from werkzeug.wrappers import Response as BaseResponse

from app.console.charts import spark, stacked
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import page
from app.console.security.audit_sentences import done_to, what_was_done, who_did
from app.console.session import actor, ports
from app.services.console.home import Overview, show_overview

blueprint = PageGroup(
    "home", __name__, Entry("Home", "house", "overview dashboard start", Heading.TOP)
)


@blueprint.get("/")
def index() -> BaseResponse:
    """The first page."""
    seen = show_overview(ports(), actor())
    day = seen.deliveries
    bars = None if day is None else stacked([(h.arrived, h.not_arrived) for h in day.hours])
    sparks = None if day is None else spark([float(hour.made) for hour in day.hours])
    return page(
        "home/index.html",
        seen=seen,
        bars=bars,
        sparks=sparks,
        attention=_attention(seen),
        who_did=who_did,
        what_was_done=what_was_done,
        done_to=done_to,
    )


def _attention(seen: Overview) -> int:
    """How many things want a look."""
    found = len(seen.webhooks or ())
    if seen.people is not None:
        found += bool(seen.people.blocked_ips)
        found += bool(seen.people.untrusted_peers)
        found += bool(
            seen.people.staff_without_sign_on and any(p.is_active for p in seen.providers)
        )
    return found + sum(provider.is_paused for provider in seen.providers if provider.is_active)
