"""Forms that create something: sent twice they create it once, and a secret is shown once.

Use ``CreatingForm`` and ``create_once`` for every form that creates something.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from flask import flash, redirect, request, url_for
from typing_extensions import override
from werkzeug.wrappers import Response as BaseResponse
from wtforms import HiddenField

from app.console.forms import ConsoleForm
from app.console.navigation import PageGroup
from app.console.page_layout import go, page
from app.console.session import actor, ports
from app.domain.values.text import translatable
from app.services.console.submissions import (
    KEY_LENGTH,
    claim_submission,
    find_created_page,
    finish_submission,
    release_submission,
    take_created_secret,
)
from app.web.translation import text

_KEY = re.compile(rf"[A-Za-z0-9]{{{KEY_LENGTH}}}")
_PARAMETER = "created"
_RELOAD_SECONDS = "1"
_INTERRUPTED = translatable(
    "This form expired or was interrupted. Check whether the item exists before you try again."
)

blueprint = PageGroup("creations", __name__, url_prefix="/created")


class SubmissionField(HiddenField):  # type: ignore[misc]
    """The key of one rendering of a form; an invalid one counts as a new one."""

    def __init__(self, **kwargs: object) -> None:
        super().__init__(default=_new_key, render_kw={"id": False}, **kwargs)

    @override
    def process_formdata(self, valuelist: list[str]) -> None:
        if valuelist and _KEY.fullmatch(valuelist[0]):
            self.data = valuelist[0]


class CreatingForm(ConsoleForm):
    """A form that creates something. Its template renders ``{{ form.submission }}``."""

    submission = SubmissionField()


@dataclass(frozen=True, slots=True)
class Created:
    """What was created: what to say, and the page that shows it.

    ``secret`` is shown on that page once.
    """

    message: str
    endpoint: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    secret: str = field(default="", repr=False)


def create_once(form: CreatingForm, create: Callable[[], Created]) -> BaseResponse:
    """Create something with ``create`` and redirect to its page.

    A form that is sent again (a double click, a reload) leads to the same page and creates
    nothing. What ``create`` raises passes through; the form can then be sent again. The page that
    shows a secret gets it from ``shown_once``::

        form = AppForm()  # a CreatingForm
        if form.validate_on_submit():
            try:
                return create_once(form, lambda: _create(form))
            except Refused as refused:
                form.refuse(refused)
    """
    key = form.submission.data
    if not claim_submission(ports(), actor(), key):
        return go("console.creations.show", submission=key)
    try:
        created = create()
    except BaseException:
        release_submission(ports(), actor(), key)
        raise
    reveal = {_PARAMETER: key} if created.secret else {}
    location = url_for(created.endpoint, **created.arguments, **reveal)  # type: ignore[arg-type]
    finish_submission(ports(), actor(), key, location, created.secret)
    flash(created.message, "ok")
    return redirect(location, HTTPStatus.SEE_OTHER)


def shown_once() -> str | None:
    """Return the secret of what was just created, for the page that ``create_once`` leads to.

    Empty if it was shown before or is older than ten minutes; ``None`` if the URL asks for none.
    """
    key = request.args.get(_PARAMETER, "")
    return take_created_secret(ports(), actor(), key) if _KEY.fullmatch(key) else None


@blueprint.get("/<slug:submission>")
def show(submission: str) -> BaseResponse:
    """Lead to what a form created that was sent twice; wait while it is being created."""
    location = find_created_page(ports(), actor(), submission)
    if location is None:
        flash(text(_INTERRUPTED), "warn")
        return go("console.home.index")
    if location:
        return redirect(location, HTTPStatus.SEE_OTHER)
    waiting = page("creating.html")
    waiting.headers["Refresh"] = _RELOAD_SECONDS
    return waiting


def _new_key() -> str:
    return ports().randomness.token(KEY_LENGTH)
