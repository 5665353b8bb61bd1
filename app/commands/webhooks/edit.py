"""``flask webhook create`` and ``edit``: by flags, or as TOML in an editor."""

import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from app.commands.name_completion import complete_app_or_global_id, complete_webhook
from app.commands.terminal.output import output, visible, visible_lines
from app.commands.webhooks.fields import (
    WEBHOOK,
    WebhookOptions,
    event_names,
    field_options,
    find_app,
    find_webhook,
)
from app.commands.webhooks.instance_option import instance, webhook_command
from app.domain.urls.web_urls import is_private_target, is_web_url
from app.domain.values.errors import Problem, Refused, Stale
from app.domain.values.inputs import ABSENT, Absent, present
from app.domain.values.installation import Fault
from app.domain.webhooks import not_permitted, receives_nothing
from app.ports.instance import Instance, InstanceApp, InstanceWebhook, WebhookDraft

_ERROR = "# Error: "


@dataclass(slots=True)
class EditedFile:
    """A file that only its owner can read; ``original`` is what was in it first."""

    path: Path
    original: str

    def edit(self) -> str:
        """Open the editor; return the text, empty if the file was removed or emptied.

        Raises ``click.ClickException`` for an editor that fails and for a file that isn't text.
        """
        click.edit(filename=str(self.path))
        try:
            return self.path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        except UnicodeDecodeError:
            raise click.ClickException("The edited file isn't UTF-8 text.") from None

    def explain(self, text: str, error: str) -> None:
        """Write ``text`` with ``error`` as a comment above it, instead of the last error."""
        rest = [line for line in text.splitlines() if not line.startswith(_ERROR)]
        comment = [f"{_ERROR}{line}" for line in visible_lines(error).split("\n")]
        self.path.write_text("\n".join([*comment, *rest]) + "\n", encoding="utf-8")

    @property
    def is_worth_keeping(self) -> bool:
        """Whether there is text in it that wasn't there at first."""
        try:
            content = self.path.read_bytes()
        except FileNotFoundError:
            return False
        return bool(content.strip()) and content != self.original.encode()


@contextmanager
def edited_file(text: str, suffix: str, say: Callable[[str], None]) -> Iterator[EditedFile]:
    """A file with ``text`` to edit; it stays, and ``say`` tells where, if the block fails."""
    descriptor, name = tempfile.mkstemp(prefix="latchkey-", suffix=suffix)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
    file = EditedFile(Path(name), text)
    try:
        yield file
    except BaseException:
        if file.is_worth_keeping:
            say(f"Your text is kept in {name}")
        else:
            file.path.unlink(missing_ok=True)
        raise
    file.path.unlink(missing_ok=True)


_HEAD = """\
# Save and close the editor to update the webhook. Without a change, nothing is saved.
# A query defines its own events; `events` is used only without a query.

"""
_KINDS: Mapping[str, type] = {
    "name": str,
    "target_url": str,
    "active": bool,
    "events": list,
    "headers": dict,
    "query": str,
}


_TYPE_NAMES = {str: "a text", bool: "true or false", list: "a list", dict: "a table"}


class Unreadable(Exception):
    """The TOML is invalid; the text says what is wrong."""


def format_toml(webhook: InstanceWebhook) -> str:
    """What may be changed of a webhook, and how that is done."""
    headers = ", ".join(f"{_text(k)} = {_text(v)}" for k, v in webhook.custom_headers.items())
    lines = [
        f"name = {_text(webhook.name)}",
        f"target_url = {_text(webhook.target_url)}",
        f"active = {str(webhook.is_active).lower()}",
        f"events = [{', '.join(map(_text, webhook.events))}]",
        f"headers = {{{headers}}}",
        f"query = {_long_text(webhook.query)}",
    ]
    return _HEAD + "\n".join(lines) + "\n"


def _text(text: str) -> str:
    # A JSON string is also a TOML string, except for the one character that only TOML forbids.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _long_text(text: str) -> str:
    if (
        not text
        or "'''" in text
        or not all(character.isprintable() or character in "\t\n" for character in text)
    ):
        return _text(text)
    return f"'''\n{text}'''"


def parse_toml(webhook: InstanceWebhook, text: str) -> WebhookDraft:
    """Return the changes in the TOML ``text`` against ``webhook``; raises ``Unreadable``.

    A missing line or an empty query changes nothing.
    """
    try:
        read = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unreadable(str(error)) from None
    for name, value in read.items():
        if name not in _KINDS:
            raise Unreadable(f"Unknown field {name}. Available fields: {', '.join(_KINDS)}.")
        if not isinstance(value, _KINDS[name]):
            raise Unreadable(f"{name} must be {_TYPE_NAMES[_KINDS[name]]}.")
    headers, events = read.get("headers", {}), read.get("events", webhook.events)
    if not all(isinstance(value, str) for value in (*headers.values(), *events)):
        raise Unreadable("Events and header values must be strings. Put them in quotes.")
    draft = WebhookDraft(
        name=_change(read.get("name"), webhook.name),
        target_url=_change(read.get("target_url"), webhook.target_url),
        is_active=_change(read.get("active"), webhook.is_active),
        custom_headers=_change(read.get("headers"), dict(webhook.custom_headers)),
        query=_change(read.get("query", "").strip() or None, webhook.query.strip()),
    )
    # Where there is a query, it says itself what it is about.
    has_query = webhook.query or draft.query is not ABSENT
    return draft if has_query else replace(draft, events=_change(tuple(events), webhook.events))


_EDITED = {
    "name": "name",
    "target_url": "target_url",
    "is_active": "active",
    "custom_headers": "headers",
    "query": "query",
}
"""The fields of a draft that replace a value, with their names in the text."""


def merged_draft(
    opened: InstanceWebhook, seen: InstanceWebhook, current: InstanceWebhook, draft: WebhookDraft
) -> WebhookDraft:
    """Return ``draft``, made of the text of ``opened``, for the webhook as it is by now.

    Events are added and removed. Raises ``Unreadable`` for a field that someone else changed since
    the webhook was ``seen``, and that the draft sets to something else.
    """
    for name, label in _EDITED.items():
        wanted, now = getattr(draft, name), getattr(current, name)
        if wanted is not ABSENT and now not in (getattr(seen, name), wanted):
            shown = "to other values" if label == "headers" else f"to {now!r}"
            message = f"{label} was changed {shown} after you opened it."
            raise Unreadable(f"{message} Save again to replace that, or take your change back.")
    if isinstance(draft.events, Absent):
        return draft
    kept = [
        event for event in current.events if event in draft.events or event not in opened.events
    ]
    added = [event for event in draft.events if event not in (*opened.events, *kept)]
    return replace(draft, events=(*kept, *added))


@dataclass(slots=True)
class OpenedWebhook:
    """A webhook that was ``opened`` in an editor; ``seen`` is what later changes left of it."""

    instance: Instance
    opened: InstanceWebhook
    seen: InstanceWebhook

    def save(self, draft: WebhookDraft) -> InstanceWebhook:
        """Merge ``draft`` into the webhook as it is now, and save it if it still is.

        Raises ``Unreadable`` as ``merged_draft`` does; the next time, that change was seen.
        """
        while True:
            before, self.seen = self.seen, find_webhook(self.instance, self.opened.id)
            merged = merged_draft(self.opened, before, self.seen, draft)
            with suppress(Stale):  # changed since it was read: merged again
                return self.instance.change_unchanged(self.seen, merged)


def _change(value: Any, before: Any) -> Any:
    return ABSENT if value is None or value == before else value


def warn_of_missing_permission(webhook: InstanceWebhook) -> bool:
    """Print the events that the app can't receive, and why; return whether that is all events."""
    app = webhook.app
    if app.permissions is None:
        return False
    for permission, events in not_permitted(webhook.events, app.permissions).items():
        need = "needs" if len(events) == 1 else "need"
        message = f"{', '.join(events)} {need} {permission}, which {app.name} doesn't have"
        output().say(f"Warning: {message}. These events won't be sent.")
    return receives_nothing(webhook.events, app.permissions)


@contextmanager
def explain_target_errors(draft: WebhookDraft) -> Iterator[None]:
    """Extend the error about the target in ``draft`` with how to receive events locally."""
    try:
        yield
    except Refused as refused:
        target = present(draft.target_url, "")
        raise Refused(*(_with_hint(problem, target) for problem in refused.problems)) from None


def _with_hint(problem: Problem, target: str) -> Problem:
    if problem.field != "targetUrl" or not is_private_target(target):
        return problem
    return replace(
        problem,
        template="{reason} On your own machine: flask webhook listen --forward-to {target}",
        values={"reason": problem.message, "target": target},
    )


@webhook_command(
    "create",
    examples=[
        ("flask webhook create", "prompts for missing values"),
        (
            "flask webhook create --target-url https://a.example.com/hook --event ORDER_PAID",
            "without prompts",
        ),
        (
            "flask webhook create --target-url https://a.example.com/hook --query @paid.graphql",
            "with a subscription query",
        ),
    ],
)
@click.option(
    "--app",
    shell_complete=complete_app_or_global_id,
    help="The app that owns it: an ID or a unique name. Optional if there is only one app.",
)
@field_options
@click.option("--no-input", is_flag=True, help="Never prompt; fail if a value is missing.")
def create(*, app: str | None, no_input: bool, **fields: Any) -> None:
    """Create a webhook. Prompts for missing values when running in a terminal."""
    options = WebhookOptions(**fields)
    may_ask = sys.stdin.isatty() and not no_input
    missing = _missing(options)
    if missing and not may_ask:
        raise click.UsageError(f"Missing {' and '.join(missing)}.")
    chosen = instance()
    owner = _owner(chosen, app, may_ask=may_ask)
    if missing:
        options = _ask_for_missing(chosen, options)
    draft = options.draft(chosen)
    with explain_target_errors(draft):
        webhook = chosen.create(owner.id, draft)
    out = output()
    out.show_item(webhook, options.columns(draft))
    if options.makes_secret:
        out.say("Store the secret now. It won't be shown again.")
    if warn_of_missing_permission(webhook):
        return
    is_on = webhook.is_active and owner.is_active
    when = "" if is_on else "Once both are active, "
    out.say(f"{when}{owner.name} receives events at {webhook.target_url}.")


def _missing(options: WebhookOptions) -> list[str]:
    """Return the names of required fields without a value."""
    missing = [] if options.target_url else ["--target-url"]
    return missing if options.events or options.query else [*missing, "either --event or --query"]


def _owner(instance: Instance, app: str | None, *, may_ask: bool) -> InstanceApp:
    if app is not None:
        return find_app(instance, app)
    apps = instance.apps()
    if len(apps) == 1:
        return apps[0]
    if not apps:
        message = "No apps. Create one with: flask app create NAME"
        raise Refused(Problem("REQUIRED", message, "app"))
    names = visible(", ".join(app.name for app in apps[:20]))
    if not may_ask:
        raise click.UsageError(f"Missing --app. Available apps: {names}.")
    owner: InstanceApp = click.prompt(
        f"App ({names})", value_proc=lambda text: _app(instance, text), err=True
    )
    return owner


def _ask_for_missing(instance: Instance, options: WebhookOptions) -> WebhookOptions:
    """Return ``options`` completed by prompts; an invalid answer is asked again."""
    if not options.target_url:
        question = "Endpoint URL (https://app.example.com/hook)"
        options = replace(
            options, target_url=click.prompt(question, value_proc=_address, err=True)
        )
    if not (options.events or options.query):
        events: tuple[str, ...] = click.prompt(
            "Events, separated by commas (`flask webhook events` lists them)",
            value_proc=lambda text: _events(instance, text),
            err=True,
        )
        options = replace(options, events=events)
    if options.name is None:
        options = replace(
            options, name=click.prompt("Name", default="", show_default=False, err=True)
        )
    return _ask_for_secret(options) if options.secret is None else options


def _ask_for_secret(options: WebhookOptions) -> WebhookOptions:
    """Return ``options`` with a new secret, a typed one, or none."""
    choice = click.prompt(
        "Secret to sign deliveries with: generate one, type one, or none (the shop's keys sign)",
        type=click.Choice(["generate", "type", "none"]),
        default="none",
        err=True,
    )
    if choice != "type":
        return replace(options, secret=choice)
    typed = click.prompt("Secret", hide_input=True, confirmation_prompt=True, err=True)
    return replace(options, typed_secret=typed.strip())


def _app(instance: Instance, text: str) -> InstanceApp:
    try:
        return find_app(instance, text.strip())
    except Refused as refused:
        raise click.UsageError(visible(str(refused))) from None


def _events(instance: Instance, text: str) -> tuple[str, ...]:
    names = event_names(instance, filter(str.strip, text.split(",")))
    if not names:
        raise click.UsageError("Enter at least one event, for example ORDER_PAID.")
    return names


def _address(text: str) -> str:
    if not is_web_url(text.strip()):
        raise click.UsageError("Enter a full URL, for example https://app.example.com/hook")
    return text.strip()


@webhook_command(
    "edit",
    examples=[
        ("flask webhook edit hook", "in your editor ($EDITOR)"),
        ("flask webhook edit hook --target-url https://new.example.com/hook", "with an option"),
        ("flask webhook edit hook --inactive", "disable it"),
        ("flask webhook edit hook --query - < paid.graphql", "read its query from standard input"),
    ],
)
@click.argument("webhook", shell_complete=complete_webhook)
@field_options
@click.option("--no-input", is_flag=True, help="Never open an editor.")
def edit(webhook: str, *, no_input: bool, **fields: Any) -> None:
    """Update a webhook with options, or in an editor if there are none."""
    options = WebhookOptions(**fields)
    in_editor = options == WebhookOptions()
    if in_editor and (no_input or not sys.stdin.isatty()):
        raise click.UsageError("Nothing to update. Use --target-url, --query, --inactive, …")
    chosen = instance()
    current = find_webhook(chosen, webhook)
    if options.events and current.query:
        message = "This webhook's query defines its events. Use --query instead of --event."
        raise click.UsageError(message)
    draft = options.draft(chosen)
    changed = _edit(chosen, current) if in_editor else _changed(chosen, current, draft)
    out = output()
    if changed is None:
        out.say("No changes were made.")
    out.show_item(changed or current, options.columns(draft))
    if changed is not None:
        warn_of_missing_permission(changed)


def _changed(instance: Instance, webhook: InstanceWebhook, draft: WebhookDraft) -> InstanceWebhook:
    with explain_target_errors(draft):
        return instance.change(webhook, draft)


def _edit(instance: Instance, webhook: InstanceWebhook) -> InstanceWebhook | None:
    """Edit the webhook as TOML; ``None`` if nothing changed. Mistakes can be corrected there.

    What others change meanwhile stays, unless it is confirmed by saving twice.
    """
    opened = OpenedWebhook(instance, webhook, webhook)
    with edited_file(format_toml(webhook), ".toml", output().say) as file:
        while (text := file.edit()).strip():
            try:
                draft = parse_toml(webhook, text)
                if not isinstance(draft.events, Absent):
                    draft = replace(draft, events=event_names(instance, draft.events))
                if draft == WebhookDraft():
                    return None
                with explain_target_errors(draft):
                    return opened.save(draft)
            except (Unreadable, Refused, Fault, click.UsageError) as error:
                file.explain(text, str(error))
                question = f"{visible_lines(str(error))} Edit again?"
                click.confirm(question, default=True, abort=True, err=True)
    return None


@webhook_command(
    "pause", examples=[("flask webhook pause hook", "while its endpoint is being repaired")]
)
@click.argument("webhook", shell_complete=complete_webhook)
def pause(webhook: str) -> None:
    """Pause a webhook: its events wait, for up to 14 days, until it is resumed.

    A disabled webhook (`flask webhook edit WEBHOOK --inactive`) gets no events instead.
    """
    paused = _set_paused(webhook, is_paused=True)
    output().say(f"Paused {paused.name or paused.id}: its events wait until it is resumed.")


@webhook_command("resume", examples=[("flask webhook resume hook", "send what waits, in order")])
@click.argument("webhook", shell_complete=complete_webhook)
def resume(webhook: str) -> None:
    """Resume a paused webhook: what waits is sent first, in order, up to 20 a second."""
    resumed = _set_paused(webhook, is_paused=False)
    output().say(f"Resumed {resumed.name or resumed.id}: what waited is being sent, in order.")


def _set_paused(webhook: str, *, is_paused: bool) -> InstanceWebhook:
    chosen = instance()
    changed = chosen.change(find_webhook(chosen, webhook), WebhookDraft(is_paused=is_paused))
    output().show_item(changed, WEBHOOK)
    return changed
