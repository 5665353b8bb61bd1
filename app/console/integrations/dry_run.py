"""Dry run: what a webhook would send, without sending it."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import Response, request, url_for
from werkzeug.datastructures import MultiDict
from werkzeug.wrappers import Response as BaseResponse
from wtforms import SelectField, StringField, TextAreaField
from wtforms.fields.choices import SelectChoice

from app.console.frame.formatting import pretty_json
from app.console.frame.forms import ConsoleForm, KeyField
from app.console.frame.navigation import Entry, Heading, PageGroup
from app.console.frame.page_layout import page, wants_part
from app.console.frame.parts import Option
from app.console.frame.session import actor, ports
from app.console.frame.submissions import (
    Entered,
    entered_before,
    keep_secret,
    redirect_with_entered,
)
from app.console.integrations.delivery_page import size_of
from app.console.integrations.event_subjects import (
    SHOWN_SUBJECTS,
    FoundObject,
    find_objects,
    object_named,
)
from app.domain.apps.apps import App
from app.domain.events import EVENTS, EventType, default_query
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import to_global_id
from app.domain.values.line_diff import DiffLine, diff_lines
from app.domain.values.pages import PageRequest
from app.domain.webhooks import Webhook, lacking_of_app
from app.services.apps.app_lists import list_apps
from app.services.authorization.register import can_call
from app.services.deliveries.details import DeliveryDetails, show_latest_delivery
from app.services.deliveries.dry_runs import DryRun, dry_run_webhook
from app.services.webhooks.lists import show_webhook
from app.services.webhooks.payloads import check_query
from app.web.converters import row_key
from app.web.translation import enumeration, lazy_text, problem_text, text

_QUERY = """subscription {{
  event {{
    ... on {kind} {{
      {selection}
    }}
  }}
}}
"""
_COMMAND = "flask webhook dry-run --query query.graphql"
_OBJECT_OPTION = "--object-id ID"


@dataclass(frozen=True, slots=True)
class EventOption(Option):
    """An event, with what the page says when it is chosen."""

    query: str
    hint: str
    subject: str
    object_hint: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run came to: the payload, or the problems; ``last`` is the last real delivery."""

    ran: DryRun | None = None
    problems: tuple[Problem, ...] = ()
    last: DeliveryDetails | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """What was entered in the form of the webhook ``webhook_id``, or of a new one.

    ``difference`` is what the query does to its events if it is used there.
    """

    webhook_id: int | None = None
    fields: tuple[tuple[str, str], ...] = ()
    difference: str = ""


_NO_DRAFT = Draft()


@dataclass(frozen=True, slots=True)
class ProblemLine:
    where: str
    message: str
    code: str


@dataclass(frozen=True, slots=True)
class Payload:
    event: str
    size: str
    body: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The payload compared with the last real delivery's."""

    delivery_id: int
    created_at: datetime
    summary: str
    lines: tuple[DiffLine, ...]


@dataclass(frozen=True, slots=True)
class DryRunPage:
    """The form and its result; ``has_run`` tells an empty result from none."""

    events: tuple[EventOption, ...]
    event: EventOption
    apps: tuple[Option, ...]
    found: Sequence[FoundObject] | None
    has_run: bool
    problems: tuple[ProblemLine, ...]
    payload: Payload | None
    comparison: Comparison | None
    invalid_lines: tuple[int, ...]
    command: str
    draft: Draft


def make_dry_run_page(
    event: EventType,
    apps: Iterable[App],
    app_id: int | None,
    *,
    object_id: str = "",
    found: Sequence[FoundObject] | None = None,
    outcome: Outcome | None = None,
    draft: Draft = _NO_DRAFT,
) -> DryRunPage:
    """Return the page for ``event`` run as the app ``app_id``.

    ``found`` are the matches of a search for an object, ``None`` without one. ``draft`` is the
    webhook that the query is for.
    """
    came_to = outcome or Outcome()
    events = tuple(_event_option(kind, is_chosen=kind is event) for kind in EVENTS)
    return DryRunPage(
        events=events,
        event=next(option for option in events if option.is_chosen),
        apps=tuple(Option(str(app.id), app.name, app.id == app_id) for app in apps),
        found=found,
        has_run=outcome is not None,
        problems=tuple(_problem(problem) for problem in came_to.problems),
        payload=_payload(came_to.ran) if came_to.ran else None,
        comparison=_comparison(came_to.ran, came_to.last),
        invalid_lines=tuple(line for problem in came_to.problems for line in problem.lines),
        command=f"{_COMMAND} {_OBJECT_OPTION}" if object_id else _COMMAND,
        draft=draft,
    )


def indented_query(event: EventType) -> str:
    kind = EVENTS[event]
    return _QUERY.format(kind=kind.__name__, selection=kind.selection)


def is_default_query(query: str) -> bool:
    words = query.split()
    return any(indented_query(event).split() == words for event in EVENTS)


def _event_option(event: EventType, *, is_chosen: bool) -> EventOption:
    subject = SHOWN_SUBJECTS[EVENTS[event].subject.type]
    return EventOption(
        value=event.value,
        label=text(event.label),
        is_chosen=is_chosen,
        query=indented_query(event),
        hint=_event_hint(event),
        subject=text(subject.label),
        object_hint=text(subject.hint),
    )


def query_difference(before: Collection[EventType], queried: Collection[EventType]) -> str:
    """Return what a query does to the events of a webhook; empty without a valid query."""
    if not queried:
        return ""
    if EventType.ANY_EVENTS in before:
        return text(
            "The webhook receives all events now. With this query it receives only {events}.",
            events=_quoted(queried),
        )
    added = [event for event in queried if event not in before]
    removed = [event for event in before if event not in queried]
    if not added and not removed:
        return text("This query doesn't change the webhook's events.")
    if not removed:
        return text("This query adds {events}.", events=_quoted(added))
    if not added:
        return text("This query removes {events}.", events=_quoted(removed))
    return text(
        "This query adds {added} and removes {removed}.",
        added=_quoted(added),
        removed=_quoted(removed),
    )


def _quoted(events: Iterable[EventType]) -> str:
    return enumeration([text("“{event}”", event=text(event.label)) for event in events])


def _event_hint(event: EventType) -> str:
    kind = EVENTS[event]
    return text(
        "{description} Requires {permission}.",
        description=text(kind.description),
        permission=text(kind.permission.label),
    )


def _payload(ran: DryRun) -> Payload:
    return Payload(text(ran.event.label), size_of(ran.payload), ran.payload)


def _problem(problem: Problem) -> ProblemLine:
    where = ""
    if problem.lines:
        where = text(
            "Line {lines}:",
            "Lines {lines}:",
            count=len(problem.lines),
            lines=", ".join(map(str, problem.lines)),
        )
    return ProblemLine(where, problem_text(problem), problem.code)


def _comparison(ran: DryRun | None, last: DeliveryDetails | None) -> Comparison | None:
    if ran is None or last is None or last.line.lacking:
        return None
    before, after = (pretty_json(body).splitlines() for body in (last.payload, ran.payload))
    lines = diff_lines(before, after)
    differs = any(line.mark != " " for line in lines)
    summary = (
        text("Lines with - are only in the last delivery, lines with + only in this payload.")
        if differs
        else text("No differences.")
    )
    return Comparison(last.line.id, last.line.created_at, summary, lines)


_MAX_APPS = 100
_KEPT = (
    "draft_query",
    "draft_app",
    "name",
    "target_url",
    "events",
    "custom_headers",
    "is_active",
    "drops_secret",
    "secret_key_kept",
    "draft",
)
"""The fields of a webhook's form that a dry run hands back to it."""

_NEVER_KEPT = ("csrf_token", "secret_key", "submission")

blueprint = PageGroup(
    "dry_run",
    __name__,
    Entry("Dry run", "play-circle", "payload test query", Heading.TOOLS, needs=check_query),
    url_prefix="/dry-run",
)


class DryRunForm(ConsoleForm):
    """What to run: an event, its object and a query, as the person or as an app."""

    names = {"objectId": "object", "app": "app", "query": "query"}  # noqa: RUF012
    event = SelectField(
        lazy_text("Event"),
        choices=[SelectChoice(event.value, lazy_text(event.label)) for event in EVENTS],
    )
    app = KeyField(lazy_text("Run as"))
    object = StringField(lazy_text("Object"))
    query = TextAreaField(lazy_text("Subscription query"))
    webhook = KeyField(lazy_text("Webhook"))

    @property
    def event_type(self) -> EventType:
        known = self.event.data in EVENTS
        return EventType(self.event.data) if known else EventType.PRODUCT_UPDATED


@blueprint.get("/")
def index() -> BaseResponse:
    """Show what was run, or the form, with query and app of a ``webhook`` if one is given."""
    entered = entered_before()
    if entered is not None:
        return _run(entered)
    form = DryRunForm(request.args)
    hook_id = request.args.get("webhook", type=row_key)
    hook = None if hook_id is None else show_webhook(ports(), actor(), hook_id)
    if hook is not None:
        form.app.data = hook.app_id
        form.query.data = hook.query
        heard = [event for event in hook.events if event in EVENTS]
        form.event.data = heard[0].value if heard else form.event.data
    if not form.query.data:
        form.query.data = indented_query(form.event_type)
    return _show(form, MultiDict(), hook=hook)


@blueprint.post("/")
def run() -> BaseResponse:
    """Run the query, search for an object, or use the event's default query."""
    if wants_part():
        return _run(request.form)
    return redirect_with_entered(_entered_fields(), "console.dry_run.index")


def _run(entered: Entered) -> Response:
    form = DryRunForm(entered)
    act = entered.get("act", "run")
    if act == "default":
        form.query.data = indented_query(form.event_type)
        return _show(form, entered)
    if entered.get("from") == "webhook":
        form.event.data = _first_event(form, entered).value
        form.query.data = (form.query.data or "").strip() or indented_query(form.event_type)
        return _show(form, entered)
    if is_default_query(form.query.data or ""):
        form.query.data = indented_query(form.event_type)
    if act == "find":
        found = find_objects(ports(), actor(), form.event_type, _object_text(form, entered))
        return _show(form, entered, found=found)
    return _show(form, entered, outcome=_outcome(form, entered))


def _entered_fields() -> Iterator[tuple[str, str]]:
    """Yield the fields of the form that was sent; a webhook's secret as the key it is kept by."""
    secret = request.form.get("secret_key", "")
    for name, value in request.form.items(multi=True):
        if name not in _NEVER_KEPT and not (secret and name == "secret_key_kept"):
            yield name, value
    if secret:
        yield "secret_key_kept", keep_secret(_form_path(), "secret_key", secret)


def _form_path() -> str:
    """Return the form of the webhook that was sent to be tried."""
    key = request.form.get("webhook", type=row_key)
    if key is None:
        return url_for("console.webhook_editing.new")
    return url_for("console.webhook_editing.edit", key=key)


def _outcome(form: DryRunForm, entered: Entered) -> Outcome:
    query = form.query.data or ""
    try:
        ran = dry_run_webhook(
            ports(),
            actor(),
            object_id=object_named(ports(), actor(), form.event_type, _object_text(form, entered)),
            query=query if query.strip() else default_query(EVENTS[form.event_type]),
            app=None if form.app.data is None else to_global_id("App", form.app.data),
            event=form.event_type,
        )
    except Refused as refused:
        return Outcome(problems=_problems_of_query(refused, query))
    return _with_last_delivery(form, ran)


def _problems_of_query(refused: Refused, query: str) -> tuple[Problem, ...]:
    """Return the problems; those of the query with their lines."""
    checked = check_query(ports(), actor(), query).problem if query.strip() else None
    if checked is not None and any(problem.field == "query" for problem in refused.problems):
        return (checked,)
    return refused.problems


def _with_last_delivery(form: DryRunForm, ran: DryRun) -> Outcome:
    """Add the last real delivery of the webhook that the query is from."""
    hook = form.webhook.data
    if hook is None or not can_call(actor(), show_latest_delivery):
        return Outcome(ran)
    return Outcome(ran, last=show_latest_delivery(ports(), actor(), hook, ran.event))


def _show(
    form: DryRunForm,
    entered: Entered,
    *,
    outcome: Outcome | None = None,
    found: list[FoundObject] | None = None,
    hook: Webhook | None = None,
) -> Response:
    kept = _entered_draft(entered)
    dry_run = make_dry_run_page(
        form.event_type,
        _apps(),
        form.app.data,
        object_id=form.object.data or "",
        found=found,
        outcome=outcome,
        draft=Draft(
            form.webhook.data,
            kept,
            difference_of(MultiDict(kept), form.webhook.data, form.query.data or "", hook),
        ),
    )
    return page("dry_run/index.html", form=form, dry_run=dry_run)


def _apps() -> tuple[App, ...]:
    """Return the apps that the person can run a query as."""
    apps = list_apps(ports(), actor(), PageRequest(_MAX_APPS)).items
    return tuple(app for app in apps if not lacking_of_app(actor(), app.permissions))


@dataclass(frozen=True, slots=True)
class LivePayload:
    """The payload of a webhook's form as it is entered; ``events`` are those to choose from."""

    events: tuple[Option, ...] = ()
    payload: Payload | None = None
    problems: tuple[ProblemLine, ...] = ()


def live_payload(entered: Entered) -> LivePayload:
    """Return the payload of the event ``shown``, or of the first, as the form's app reads it."""
    form = DryRunForm(entered)
    query = (form.query.data or "").strip()
    if query:
        checked = check_query(ports(), actor(), query)
        if checked.problem is not None:
            return LivePayload(problems=(_problem(checked.problem),))
        events: Sequence[EventType] = checked.events
    else:
        ticked = entered.getlist("events")
        is_any = EventType.ANY_EVENTS.value in ticked
        events = [event for event in EVENTS if is_any or event.value in ticked]
    if not events:
        return LivePayload()
    shown = next((one for one in events if one.value == entered.get("shown")), events[0])
    form.event.data = shown.value
    outcome = _outcome(form, entered)
    return LivePayload(
        tuple(Option(one.value, text(one.label), one is shown) for one in events),
        _payload(outcome.ran) if outcome.ran else None,
        tuple(map(_problem, outcome.problems)),
    )


def _first_event(form: DryRunForm, entered: Entered) -> EventType:
    """Return the first event of a webhook's form: of its query, or of those selected."""
    query = (form.query.data or "").strip()
    subscribed = check_query(ports(), actor(), query).events if query else ()
    selected = [EventType(name) for name in entered.getlist("events") if name in EVENTS]
    return next(iter((*subscribed, *selected)), EventType.PRODUCT_UPDATED)


def _entered_draft(entered: Entered) -> tuple[tuple[str, str], ...]:
    """Return what was entered in a webhook's form, to go back to it; never a secret."""
    is_form = entered.get("from") == "webhook"
    if not is_form and "draft" not in entered:
        return ()
    kept = tuple((name, value) for name, value in entered.items(multi=True) if name in _KEPT)
    if not is_form:
        return kept
    edited = (("draft_query", entered.get("query", "")), ("draft_app", entered.get("app", "")))
    return (*kept, *edited, ("draft", "yes"))


def draft_of(entered: Entered) -> Entered:
    """Return the fields of a webhook's form as they were before the dry run.

    The query of the dry run replaces the form's only if the person chose to use it.
    """
    restored = entered.copy()
    restored["app"] = entered.get("draft_app", "")
    if not uses_query(entered):
        restored["query"] = entered.get("draft_query", "")
    return restored


def uses_query(entered: Entered) -> bool:
    """Return whether the button was pressed that takes the query into the webhook's form."""
    return entered.get("from") == "query"


def difference_of(
    entered: Entered, webhook_id: int | None, query: str, hook: Webhook | None = None
) -> str:
    """Return what ``query`` does to the events of the webhook that a dry run is for.

    That is the form of ``entered``, or else the stored webhook; empty for neither.
    """
    if "draft" in entered:
        before = _events_of_draft(entered)
    elif webhook_id is None:
        return ""
    else:
        stored = hook or show_webhook(ports(), actor(), webhook_id)
        before = () if stored is None else stored.events
    return query_difference(before, check_query(ports(), actor(), query).events)


def _events_of_draft(entered: Entered) -> tuple[EventType, ...]:
    query = entered.get("draft_query", "").strip()
    if query:
        return check_query(ports(), actor(), query).events
    ticked = entered.getlist("events")
    return tuple(event for event in EventType if event.value in ticked)


def _object_text(form: DryRunForm, entered: Entered) -> str:
    return (entered.get("chosen") or form.object.data or "").strip()
