"""The form that sends a sample of an event, in a webhook's page."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.domain.events import EVENTS, EventType
from app.web.translation import text


@dataclass(frozen=True, slots=True)
class SampleChoice:
    """An event that a sample can be of."""

    name: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class SampleForm:
    """The fields of a sample event, and what is wrong with them."""

    events: tuple[SampleChoice, ...]
    object: str
    problem: str


@dataclass(frozen=True, slots=True)
class WebhookDialog:
    """The dialog on the page: test, pause, delete or none; a test has more fields."""

    kind: str = ""
    event: str = ""
    object: str = ""
    problem: str = ""


NO_DIALOG = WebhookDialog()


def make_sample_form(subscribed: Sequence[EventType], dialog: WebhookDialog) -> SampleForm:
    """Return the form for the events that a webhook subscribes to."""
    choices = tuple(EVENTS) if EventType.ANY_EVENTS in subscribed else subscribed
    events = tuple(
        SampleChoice(event.value, text(event.label), event.value == dialog.event)
        for event in choices
    )
    return SampleForm(events, dialog.object, dialog.problem)
