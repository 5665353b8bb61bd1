"""Apps as the types show them: what belongs to each is fetched for a whole page at once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TypeVar

from app.domain.apps.apps import App, AppToken
from app.domain.apps.extensions import Extension
from app.domain.values.pages import Page
from app.domain.webhooks.webhooks import Webhook
from app.graphql.context import RequestContext
from app.services.apps.extension_tokens import make_extension_token
from app.services.apps.extensions import extensions_of_apps
from app.services.apps.tokens import tokens_of_apps
from app.services.webhooks.details import webhooks_of_apps

Item = TypeVar("Item")
Node = TypeVar("Node")


class Shelf:
    """What belongs to the apps of one page; each kind is read when it is first asked for."""

    def __init__(self, context: RequestContext, apps: Iterable[App]) -> None:
        self._context = context
        self._apps = tuple(apps)
        self._access_tokens: dict[int, str | None] = {}

    @cached_property
    def tokens(self) -> Mapping[int, tuple[AppToken, ...]]:
        found = tokens_of_apps(self._context.ports, self._context.actor, self._ids)
        return {app.id: found.get(app.id, ()) for app in self._apps}

    @cached_property
    def webhooks(self) -> Mapping[int, tuple[Webhook, ...]]:
        found = webhooks_of_apps(self._context.ports, self._context.actor, self._ids)
        return {app.id: found.get(app.id, ()) for app in self._apps}

    @cached_property
    def extensions(self) -> Mapping[int, tuple[Extension, ...]]:
        found = extensions_of_apps(self._context.ports, self._context.actor, self._living)
        return {app.id: found.get(app.id, ()) for app in self._apps}

    def access_token(self, app: App) -> str | None:
        """Signed once an app: several extensions of a page may be the same one's."""
        if app.id not in self._access_tokens:
            token = make_extension_token(self._context.ports, self._context.actor, app)
            self._access_tokens[app.id] = token
        return self._access_tokens[app.id]

    @property
    def _ids(self) -> tuple[int, ...]:
        return tuple(app.id for app in self._living)

    @property
    def _living(self) -> tuple[App, ...]:
        return tuple(app for app in self._apps if self._context.living("App", app.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class AppNode(App):
    """An app on its page's shelf."""

    shelf: Shelf = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionNode(Extension):
    """An extension whose app stands on a shelf."""

    app: AppNode


def app_node(context: RequestContext, app: App) -> AppNode:
    """One app by itself."""
    return _node(app, Shelf(context, (app,)))


def app_page(context: RequestContext, page: Page[App]) -> Page[AppNode]:
    """A page of apps."""
    shelf = Shelf(context, page.items)
    return _shown(page, lambda app: _node(app, shelf))


def extension_page(context: RequestContext, page: Page[Extension]) -> Page[ExtensionNode]:
    """A page of extensions."""
    shelf = Shelf(context, {one.app.id: one.app for one in page.items}.values())
    return _shown(page, lambda one: extension_node(one, _node(one.app, shelf)))


def extension_node(extension: Extension, app: AppNode) -> ExtensionNode:
    """An extension of an app that stands on a shelf."""
    values = {one.name: getattr(extension, one.name) for one in fields(Extension)}
    return ExtensionNode(**values | {"app": app})


def _node(app: App, shelf: Shelf) -> AppNode:
    values = {one.name: getattr(app, one.name) for one in fields(App)}
    return AppNode(**values, shelf=shelf)


def _shown(page: Page[Item], show: Callable[[Item], Node]) -> Page[Node]:
    return Page(
        items=tuple(map(show, page.items)),
        cursors=page.cursors,
        has_next=page.has_next,
        has_previous=page.has_previous,
        count=page.count,
    )
