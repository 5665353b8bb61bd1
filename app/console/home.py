"""Home: the state of access, what needs attention, and the last day."""

from werkzeug.wrappers import Response as BaseResponse

from app.console.home_page import make_home_page
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, page
from app.console.session import actor, ports
from app.services.console.home import show_overview
from app.services.console.setup import dismiss_setup
from app.web.translation import text

blueprint = PageGroup(
    "home",
    __name__,
    Entry("Home", "house", "overview dashboard start", Heading.TOP, needs=show_overview),
)


@blueprint.post("/setup/dismiss")
def dismiss() -> BaseResponse:
    """Hide the setup checklist for everyone."""
    dismiss_setup(ports(), actor())
    return done(text("Setup checklist dismissed for everyone."), "console.home.index")


@blueprint.get("/")
def index() -> BaseResponse:
    """The first page."""
    return page("home/index.html", home=make_home_page(show_overview(ports(), actor())))
