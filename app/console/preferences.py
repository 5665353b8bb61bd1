"""What a browser keeps for its person: the theme. And the keys that help them along."""

from http import HTTPStatus

from flask import redirect, request
from werkzeug.wrappers import Response as BaseResponse

from app.console.navigation import Entry, PageGroup
from app.console.page_layout import THEMES, keep_theme, own_path, page

blueprint = PageGroup(
    "preferences", __name__, Entry("Keyboard shortcuts", "keyboard", "keys help", view="keyboard")
)


@blueprint.post("/theme")
def set_theme() -> BaseResponse:
    """Light, dark, or as the system has it."""
    chosen = request.form.get("theme", "auto")
    answer = redirect(own_path(request.form.get("next")), HTTPStatus.SEE_OTHER)
    if chosen in THEMES:
        keep_theme(answer, chosen)
    return answer


@blueprint.get("/keyboard")
def keyboard() -> BaseResponse:
    """The keys, as a page; script shows it as a dialog."""
    return page("keyboard.html")
