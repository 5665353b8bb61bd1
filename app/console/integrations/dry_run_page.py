"""The view model of a dry run: what to run, and the payload or what is wrong."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from app.console.formatting import pretty_json
from app.console.integrations.delivery_attempts import size_of
from app.console.integrations.event_subjects import SHOWN_SUBJECTS, FoundObject
from app.domain.apps.apps import App
from app.domain.events import EVENTS, EventType
from app.domain.values.errors import Problem
from app.domain.values.line_diff import diff_lines
from app.services.deliveries.details import DeliveryDetails
from app.services.deliveries.dry_runs import DryRun
from app.web.translation import problem_text, text

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
_KINDS = {"-": "del", "+": "ins", " ": ""}


@dataclass(frozen=True, slots=True)
class Option:
    """A choice of a list."""

    value: str
    label: str
    is_chosen: bool


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
    """What was entered in the form of the webhook ``webhook_id``, or of a new one."""

    webhook_id: int | None = None
    fields: tuple[tuple[str, str], ...] = ()


_NO_DRAFT = Draft()


@dataclass(frozen=True, slots=True)
class ProblemLine:
    """A problem, and where in the query it is."""

    where: str
    message: str
    code: str


@dataclass(frozen=True, slots=True)
class Payload:
    """The payload that would be sent."""

    event: str
    size: str
    body: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A line of a diff: ``kind`` is ins, del or empty for a line in both."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """The payload compared with the last real delivery's."""

    delivery_id: int
    created_at: datetime
    summary: str
    lines: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class DryRunPage:
    """The form and its result; ``has_run`` tells an empty result from none."""

    events: tuple[EventOption, ...]
    event: EventOption
    apps: tuple[Option, ...]
    searched: bool
    found: Sequence[FoundObject]
    has_run: bool
    problems: tuple[ProblemLine, ...]
    payload: Payload | None
    comparison: Comparison | None
    bad_lines: tuple[int, ...]
    command: str
    webhook_id: int | None
    save: str
    draft: tuple[tuple[str, str], ...]


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
        searched=found is not None,
        found=found or (),
        has_run=outcome is not None,
        problems=tuple(_problem(problem) for problem in came_to.problems),
        payload=_payload(came_to.ran) if came_to.ran else None,
        comparison=_comparison(came_to.ran, came_to.last),
        bad_lines=tuple(line for problem in came_to.problems for line in problem.lines),
        command=_command(object_id),
        webhook_id=draft.webhook_id,
        save=_save(draft),
        draft=draft.fields,
    )


def indented_query(event: EventType) -> str:
    """Return the event's default query, indented."""
    kind = EVENTS[event]
    return _QUERY.format(kind=kind.__name__, selection=kind.selection)


def is_default_query(query: str) -> bool:
    """Return whether ``query`` is the default query of any event."""
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


def _save(draft: Draft) -> str:
    if draft.webhook_id is not None:
        return text("Use in webhook")
    return text("Back to webhook") if draft.fields else text("Save as webhook")


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
    lines = tuple(
        Difference(_KINDS[line.mark], f"{line.mark} {line.text}")
        for line in diff_lines(before, after)
    )
    differs = any(line.kind for line in lines)
    summary = (
        text("Lines with - are only in the last delivery, lines with + only in this payload.")
        if differs
        else text("No differences.")
    )
    return Comparison(last.line.id, last.line.created_at, summary, lines)


def _command(object_id: str) -> str:
    return f"{_COMMAND} {_OBJECT_OPTION}" if object_id else _COMMAND
