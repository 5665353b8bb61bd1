"""Forms that create something, and forms that lead to another page.

Those that are sent twice at once are answered once by ``app/web/sessions``.

* A form that creates something creates it once, and a secret is shown once: use ``CreatingForm``
  and ``create_once`` for each of them.
* What was entered in a form can be kept for minutes for the page that it leads to. That page is
  fetched, so that Back, Forward and Reload work; its URL has only a random key.
* A secret is shown by no page. Use ``SecretField``: one that was entered outlives a refusal of its
  form, and is never left out silently.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from itertools import islice
from typing import Any

from flask import Response, flash, redirect, request, url_for
from markupsafe import Markup
from typing_extensions import override
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as BaseResponse
from wtforms import HiddenField, PasswordField, TextAreaField
from wtforms.validators import StopValidation

from app.console.frame.forms import ConsoleForm
from app.console.frame.navigation import PageGroup
from app.console.frame.page_layout import BEGUN, page, redirect_to
from app.console.frame.session import actor, ports
from app.domain.values.text import translatable
from app.services import submissions
from app.web.sessions import keep_form_answer
from app.web.translation import text

PROOF_ANSWERS = frozenset({"proof_password", "proof_code", "proof_credential"})
"""Fields with which a form that is sent again proves who sends it."""

PROOFS = PROOF_ANSWERS | {"old_password", "password", "code"}
"""Fields of a signed-in person's forms that are compared and counted, or work once."""

_SAME_EVERY_TIME = frozenset({"console.passwords.forgotten"})
"""Forms with one answer however often they are sent; each that comes later is counted again."""

_NEVER_KEPT = PROOF_ANSWERS | {"proof_act", "proof_challenge", "csrf_token"}


def keep_console_answer(answer: Response) -> Response:
    """Keep the answer to a form as ``keep_form_answer`` does, where it isn't counted each time."""
    return keep_form_answer(answer, is_repeated=request.endpoint not in _SAME_EVERY_TIME)


Entered = MultiDict[str, str]

_KEY = re.compile(rf"[A-Za-z0-9]{{{submissions.KEY_LENGTH}}}")
_ENTERED_PARAMETER = "entered"
_EXPIRED = translatable("What you entered is kept for 10 minutes and has expired.")


def redirect_with_entered(
    fields: Iterable[tuple[str, str]], endpoint: str, /, **values: Any
) -> BaseResponse:
    """Redirect to a page that gets ``fields`` from ``entered_before``; leave secrets out."""
    key = ports().randomness.token(submissions.KEY_LENGTH)
    submissions.keep_entered(ports(), actor(), key, json.dumps(list(fields)))
    return redirect_to(endpoint, **values, **{_ENTERED_PARAMETER: key})


def entered_fields() -> list[tuple[str, str]]:
    """Return the fields of the form that was sent, but its CSRF token."""
    return [field for field in request.form.items(multi=True) if field[0] != "csrf_token"]


def entered_before() -> Entered | None:
    """Return what was entered before this page; ``None`` if its URL names nothing that is kept."""
    key = request.args.get(_ENTERED_PARAMETER, "")
    if request.method != "GET" or not key:
        return None
    kept = submissions.find_entered(ports(), actor(), key) if _KEY.fullmatch(key) else ""
    if not kept:
        flash(text(_EXPIRED), "warn")
        return None
    return MultiDict(map(tuple, json.loads(kept)))


_KEPT = "_kept"
_MAX_SECRETS = 4
"""Secrets that are kept of one form, each by a write."""

_SECRET_KEPT = translatable("What you entered is kept for 10 minutes. Leave this empty to use it.")
_SECRET_LOST = translatable("Enter it again: what you entered before isn't kept anymore.")


def keep_secret(path: str, name: str, secret: str) -> str:
    """Keep a secret that was entered in the field ``name`` of the form at ``path``.

    Return the key for its ``SecretField``; empty for no secret.
    """
    if not secret:
        return ""
    key = ports().randomness.token(submissions.KEY_LENGTH)
    submissions.keep_entered(ports(), actor(), key, json.dumps([path, name, secret]))
    return key


def _kept_secret(name: str, key: str) -> str:
    """Return what was kept for this form under ``key``; empty if there is nothing."""
    kept = submissions.find_entered(ports(), actor(), key) if _KEY.fullmatch(key) else ""
    match json.loads(kept or "[]"):
        case [str() as path, str() as field_name, str() as secret]:
            return secret if (path, field_name) == (request.path, name) else ""
    return ""


def kept_name(name: str) -> str:
    """Return the field that carries the key of what was entered in the secret field ``name``."""
    return f"{name}{_KEPT}"


def without_secrets() -> Iterator[tuple[str, str]]:
    """Yield the fields of the form that was sent, but not the proof that came with it.

    Secrets are yielded as the keys that they are kept by.
    """
    found = (name.removesuffix(_KEPT) for name in request.form if name.endswith(_KEPT))
    typed = ((name, request.form[name]) for name in found if request.form.get(name))
    secrets = dict(islice(typed, _MAX_SECRETS))
    for name, value in request.form.items(multi=True):
        if name not in _NEVER_KEPT and not {name, name.removesuffix(_KEPT)} & secrets.keys():
            yield name, value
    for name, secret in secrets.items():
        yield kept_name(name), keep_secret(request.path, name, secret)


class _EnteredAgain:
    """What a field of secrets needs besides the field itself: the key of what was entered.

    ``is_lost`` says that something was entered that isn't kept anymore. The form is refused until
    it is entered again or given up, by the checkbox of ``parts.secret`` or the one of the form
    that is named ``unless``.
    """

    name: str
    data: Any
    object_data: Any
    key = ""
    is_lost = False
    unless = ""

    def process(self, formdata: Any, *arguments: Any, **more: Any) -> None:
        super().process(formdata, *arguments, **more)  # type: ignore[misc]
        sent = formdata or {}
        self.key = sent.get(self.key_name, "")
        if self.key and sent.get(self.forget_name):
            self.key = ""
        elif self.key and (self.data or "").strip() == (self.object_data or "").strip():
            self.data = _kept_secret(self.name, self.key) or self.data
            self.is_lost = (self.data or "").strip() == (self.object_data or "").strip()

    def pre_validate(self, form: ConsoleForm) -> None:
        if self.is_lost and not (self.unless and form[self.unless].data):
            raise StopValidation(text(_SECRET_LOST))

    @property
    def key_name(self) -> str:
        """The hidden input that names what was entered; console.js sets it when it is lost."""
        return kept_name(self.name)

    @property
    def forget_name(self) -> str:
        """The checkbox that gives up what was entered."""
        return f"{self.name}_forgotten"


class SecretField(_EnteredAgain, PasswordField):  # type: ignore[misc]
    """A secret, which no page shows; one that was entered outlives a refusal of its form.

    It is kept, encrypted, for ten minutes, for this form and session. Templates render it with
    ``parts.secret``.
    """

    def __init__(self, *arguments: Any, unless: str = "", **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.unless = unless

    @property
    def is_kept(self) -> bool:
        return bool(self.data)

    @property
    def hint(self) -> str:
        """What to do about a secret that was entered before; empty if none was."""
        if self.is_kept:
            return text(_SECRET_KEPT)
        return text(_SECRET_LOST) if self.is_lost else ""

    @override
    def __call__(self, **attributes: object) -> Markup:
        is_new = self.is_kept and bool(self.raw_data and self.raw_data[0])
        key = keep_secret(request.path, self.name, self.data) if is_new else self.key
        rendered: Markup = super().__call__(**attributes)
        return rendered + _hidden(self.key_name, key)


class PrivateTextField(_EnteredAgain, TextAreaField):  # type: ignore[misc]
    """Text with secrets: a refused form shows it again, but no browser keeps it meanwhile."""

    is_kept = False
    hint = ""

    @override
    def __call__(self, **attributes: object) -> Markup:
        key = self.key if self.is_lost else ""
        rendered: Markup = super().__call__(**attributes)
        return rendered + _hidden(self.key_name, key)


def _hidden(name: str, value: str) -> Markup:
    return Markup('<input type="hidden" name="{}" value="{}">').format(name, value)


_CREATED_PARAMETER = "created"
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

    ``secret`` is shown on that page once. ``goes_on``: the message is about something that has
    only begun.
    """

    message: str
    endpoint: str
    arguments: Mapping[str, object] = field(default_factory=dict)
    secret: str = field(default="", repr=False)
    goes_on: bool = False


def create_once(form: CreatingForm, create: Callable[[], Created]) -> BaseResponse:
    """Create something with ``create`` and redirect to its page.

    A form that is sent again (a double click, a reload) leads to the same page and creates
    nothing. What ``create`` raises passes through; the form can then be sent again. The page that
    shows a secret gets it from ``shown_once``::

        form = AppForm()  # a CreatingForm
        if form.validate_on_submit():
            with form.catching_refusals():
                return create_once(form, lambda: _create(form))
        return form_page("apps/new.html", form)
    """
    key = form.submission.data
    if not submissions.claim_submission(ports(), actor(), key):
        return redirect_to("console.creations.show", submission=key)
    try:
        created = create()
    except BaseException:
        submissions.release_submission(ports(), actor(), key)
        raise
    reveal = {_CREATED_PARAMETER: key} if created.secret else {}
    location = url_for(created.endpoint, **created.arguments, **reveal)  # type: ignore[arg-type]
    submissions.finish_submission(ports(), actor(), key, location, created.secret)
    flash(created.message, BEGUN if created.goes_on else "ok")
    return redirect(location, HTTPStatus.SEE_OTHER)


def shown_once() -> str | None:
    """Return the secret of what was just created, for the page that ``create_once`` leads to.

    Empty if it was shown before or is older than ten minutes; ``None`` if the URL asks for none.
    """
    key = request.args.get(_CREATED_PARAMETER, "")
    return submissions.take_created_secret(ports(), actor(), key) if _KEY.fullmatch(key) else None


@blueprint.get("/<slug:submission>")
def show(submission: str) -> BaseResponse:
    """Lead to what a form created that was sent twice; wait while it is being created."""
    location = submissions.find_created_page(ports(), actor(), submission)
    if location is None:
        flash(text(_INTERRUPTED), "warn")
        return redirect_to("console.home.index")
    if location:
        return redirect(location, HTTPStatus.SEE_OTHER)
    waiting = page("creating.html")
    waiting.headers["Refresh"] = _RELOAD_SECONDS
    return waiting


def _new_key() -> str:
    return ports().randomness.token(submissions.KEY_LENGTH)
