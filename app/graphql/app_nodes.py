"""Apps as the types show them: what belongs to each is fetched for a whole page at once."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TypeVar

from app.domain.apps.apps import App, AppToken
from app.domain.apps.extensions import Extension
from app.domain.values.metadata import Metadata
from app.domain.values.pages import Page
from app.domain.webhooks.webhooks import Webhook
from app.graphql.context import RequestContext
from app.services.apps.app_tokens import tokens_of_apps
from app.services.apps.extension_tokens import make_extension_token
from app.services.apps.extensions import extensions_of_apps
from app.services.metadata.app_metadata import private_metadata_of_apps, public_metadata_of_apps
from app.services.webhooks.details import webhooks_of_apps

Item = TypeVar("Item")
Node = TypeVar("Node")


class AppPageLoader:
    """Loads what belongs to the apps of one page, each kind in one statement when first needed."""

    def __init__(self, context: RequestContext, apps: Iterable[App]) -> None:
        self._context = context
        self._apps = tuple(apps)
        self._access_tokens: dict[int, str | None] = {}
        self._private_metadata: dict[int, Metadata] = {}

    @cached_property
    def tokens(self) -> Mapping[int, tuple[AppToken, ...]]:
        by_app = tokens_of_apps(self._context.ports, self._context.actor, self._ids)
        return {app.id: by_app.get(app.id, ()) for app in self._apps}

    @cached_property
    def webhooks(self) -> Mapping[int, tuple[Webhook, ...]]:
        by_app = webhooks_of_apps(self._context.ports, self._context.actor, self._ids)
        return {app.id: by_app.get(app.id, ()) for app in self._apps}

    @cached_property
    def extensions(self) -> Mapping[int, tuple[Extension, ...]]:
        by_app = extensions_of_apps(self._context.ports, self._context.actor, self._existing_apps)
        return {app.id: by_app.get(app.id, ()) for app in self._apps}

    @cached_property
    def public_metadata(self) -> Mapping[int, Metadata]:
        return public_metadata_of_apps(self._context.ports, self._context.actor, self._ids)

    def private_metadata(self, app: App) -> Metadata:
        """One app's at a time: an app of the page can be the caller, who sees its own alone."""
        if not self._context.existing_key("App", app.id):
            return {}
        if app.id not in self._private_metadata:
            found = private_metadata_of_apps(self._context.ports, self._context.actor, (app.id,))
            self._private_metadata |= found
        return self._private_metadata.get(app.id, {})

    def access_token(self, app: App) -> str | None:
        """Signed once an app: several extensions of a page may be the same one's."""
        if app.id not in self._access_tokens:
            token = make_extension_token(self._context.ports, self._context.actor, app)
            self._access_tokens[app.id] = token
        return self._access_tokens[app.id]

    @property
    def _ids(self) -> tuple[int, ...]:
        return tuple(app.id for app in self._existing_apps)

    @property
    def _existing_apps(self) -> tuple[App, ...]:
        return tuple(app for app in self._apps if self._context.existing_key("App", app.id))


@dataclass(frozen=True, slots=True, kw_only=True)
class AppNode(App):
    """An app on its page's shelf."""

    loader: AppPageLoader = field(repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtensionNode(Extension):
    """An extension whose app has a loader."""

    app: AppNode


def app_node(context: RequestContext, app: App) -> AppNode:
    """One app by itself."""
    return _node(app, AppPageLoader(context, (app,)))


def app_page(context: RequestContext, page: Page[App]) -> Page[AppNode]:
    """A page of apps."""
    loader = AppPageLoader(context, page.items)
    return _map_page(page, lambda app: _node(app, loader))


def extension_page(context: RequestContext, page: Page[Extension]) -> Page[ExtensionNode]:
    """A page of extensions."""
    loader = AppPageLoader(
        context, {extension.app.id: extension.app for extension in page.items}.values()
    )
    return _map_page(
        page, lambda extension: extension_node(extension, _node(extension.app, loader))
    )


def extension_node(extension: Extension, app: AppNode) -> ExtensionNode:
    """Return an extension of an app that has a loader."""
    values = {
        attribute.name: getattr(extension, attribute.name) for attribute in fields(Extension)
    }
    return ExtensionNode(**values | {"app": app})


def _node(app: App, loader: AppPageLoader) -> AppNode:
    values = {attribute.name: getattr(app, attribute.name) for attribute in fields(App)}
    return AppNode(**values, loader=loader)


def _map_page(page: Page[Item], show: Callable[[Item], Node]) -> Page[Node]:
    return Page(
        items=tuple(map(show, page.items)),
        positions=page.positions,
        has_next=page.has_next,
        has_previous=page.has_previous,
        count=page.count,
    )
