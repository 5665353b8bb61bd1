"""Names and IDs that the shell completes on TAB, read from this installation's database.

Completion is quick and silent: it reads one page, and completes nothing after an error, after
``_MAX_SECONDS``, for another instance or without a database, which it doesn't create.
"""

import signal
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from types import FrameType

import click
from click.shell_completion import CompletionItem
from flask.cli import ScriptInfo

from app.commands.terminal.options import choice_of
from app.domain.values.ids import to_global_id
from app.domain.values.pages import PageRequest
from app.services.apps.app_lists import AppFilter, list_apps
from app.services.oauth.clients import list_clients
from app.services.people.directory import list_users
from app.services.people.groups import GroupFilter, list_groups
from app.services.single_sign_on.provider_settings import list_plugins
from app.services.webhooks.lists import WebhookFilter, list_webhooks
from app.web.installation import installation, operator

MAX_ITEMS = 50
_MAX_SECONDS = 2.0
_PAGE = PageRequest(MAX_ITEMS)

Items = list[CompletionItem[str]]
Completer = Callable[[click.Context, click.Parameter, str], Items]
NamedIds = Iterable[tuple[str, str]]


def _completer(read: Callable[[str], Iterable[CompletionItem[str]]]) -> Completer:
    def complete(context: click.Context, _param: click.Parameter, incomplete: str) -> Items:
        script = context.find_object(ScriptInfo)
        if script is None or choice_of(context).url:
            return []
        try:
            with _silence(), _time_limit(), script.load_app().app_context():
                if not installation().ports.schema.has_database():
                    return []
                return list(read(incomplete))[:MAX_ITEMS]
        except (Exception, SystemExit):  # noqa: BLE001 - TAB has no place for an error
            return []

    return complete


@contextmanager
def _silence() -> Iterator[None]:
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        yield


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise ``TimeoutError`` after ``_MAX_SECONDS``: a slow database mustn't stop a shell."""
    before = signal.signal(signal.SIGALRM, _raise_timeout)
    signal.setitimer(signal.ITIMER_REAL, _MAX_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _raise_timeout(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError


def _matching(named: NamedIds, incomplete: str) -> Iterator[CompletionItem[str]]:
    """Yield the names and IDs that begin with ``incomplete``; for a name of several, their IDs."""
    things = [(id_, name) for id_, name in named if name.isprintable()]
    counts = Counter(name for _, name in things)
    for id_, name in things:
        if name and name.startswith(incomplete) and counts[name] == 1:
            yield CompletionItem(name, help=id_)
        elif name.startswith(incomplete) or (incomplete and id_.startswith(incomplete)):
            yield CompletionItem(id_, help=name)


def _apps(incomplete: str, to_id: Callable[[int], str]) -> NamedIds:
    found = list_apps(*operator(), _PAGE, AppFilter(search=incomplete)).items
    # An ID is no part of a name.
    items = found or list_apps(*operator(), _PAGE).items
    return [(to_id(app.id), app.name) for app in items]


def _webhooks(incomplete: str) -> Iterator[CompletionItem[str]]:
    found = list_webhooks(*operator(), _PAGE, WebhookFilter(search=incomplete)).items
    items = found or list_webhooks(*operator(), _PAGE).items
    named = [(to_global_id("Webhook", webhook.id), webhook.name) for webhook in items]
    return _matching(named, incomplete)


def _groups(incomplete: str) -> Iterator[CompletionItem[str]]:
    for group in list_groups(*operator(), _PAGE, GroupFilter(search=incomplete)).items:
        if group.name.startswith(incomplete) and group.name.isprintable():
            yield CompletionItem(group.name)


def _emails(incomplete: str, *, is_staff: bool | None = None) -> Iterator[CompletionItem[str]]:
    found = list_users(*operator(), _PAGE, search=incomplete, is_staff=is_staff)
    for user in found.items:
        if user.email.startswith(incomplete.lower()):
            name = f"{user.first_name} {user.last_name}".strip()
            yield CompletionItem(user.email, help=name if name.isprintable() else None)


def _providers(incomplete: str) -> Iterator[CompletionItem[str]]:
    for plugin in list_plugins(*operator(), _PAGE).items:
        if plugin.slug.startswith(incomplete):
            yield CompletionItem(plugin.slug, help=plugin.name)


def _clients(incomplete: str) -> Iterator[CompletionItem[str]]:
    for client in list_clients(*operator()):
        if client.client_id.startswith(incomplete) or client.name.startswith(incomplete):
            yield CompletionItem(client.client_id, help=client.name)


complete_app = _completer(lambda text: _matching(_apps(text, str), text))
"""Apps by the IDs of the command line."""

complete_app_or_global_id = _completer(
    lambda text: _matching(_apps(text, lambda key: to_global_id("App", key)), text)
)
"""Apps by the IDs of the API, as the webhook commands take them."""

complete_webhook = _completer(_webhooks)
complete_group = _completer(_groups)
complete_provider = _completer(_providers)
complete_client = _completer(_clients)
complete_email = _completer(_emails)
complete_staff_email = _completer(lambda text: _emails(text, is_staff=True))
