"""Apps as the types show them: what belongs to each is fetched for a whole page at once."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, TypeVar

from app.domain.accounts.users import User
from app.domain.apps.apps import App, AppProblem, AppToken, Extension
from app.domain.values.metadata import Metadata
from app.domain.values.pages import Page, with_items
from app.domain.webhooks import Webhook
from app.graphql.context import RequestContext
from app.services.apps.app_tokens import tokens_of_apps
from app.services.apps.extensions import extension_token_signer, extensions_of_apps
from app.services.apps.problems import dismissers_of_problems, problems_of_apps
from app.services.metadata import private_metadata_of_apps, public_metadata_of_apps
from app.services.webhooks.lists import webhooks_of_apps

Item = TypeVar("Item")


class AppPageLoader:
    """Loads what belongs to the apps of one page, each kind in one statement when first needed."""

    def __init__(self, context: RequestContext, apps: Iterable[App]) -> None:
        self._context = context
        self._apps = tuple(apps)
        self._metadata: dict[Callable[..., object], dict[int, Metadata]] = defaultdict(dict)
        self._access_tokens: dict[int, str | None] = {}

    @cached_property
    def tokens(self) -> Mapping[int, tuple[AppToken, ...]]:
        return self._by_app(tokens_of_apps(*self._context.caller, self._ids))

    @cached_property
    def webhooks(self) -> Mapping[int, tuple[Webhook, ...]]:
        return self._by_app(webhooks_of_apps(*self._context.caller, self._ids))

    @cached_property
    def problems(self) -> Mapping[int, tuple[AppProblem, ...]]:
        return self._by_app(problems_of_apps(*self._context.caller, self._ids))

    @cached_property
    def dismissers(self) -> Mapping[int, User]:
        """Those who dismissed problems of the page's apps, if the caller can see them."""
        ids = {one.dismissed_by_id for problems in self.problems.values() for one in problems}
        keys = [key for key in ids if key is not None]
        return dismissers_of_problems(*self._context.caller, keys)

    @cached_property
    def extensions(self) -> Mapping[int, tuple[Extension, ...]]:
        return self._by_app(extensions_of_apps(*self._context.caller, self._existing_apps))

    def _by_app(self, found: Mapping[int, tuple[Item, ...]]) -> Mapping[int, tuple[Item, ...]]:
        return {app.id: found.get(app.id, ()) for app in self._apps}

    def public_metadata(self, app: App) -> Metadata:
        return self._load_metadata(app, public_metadata_of_apps)

    def private_metadata(self, app: App) -> Metadata:
        return self._load_metadata(app, private_metadata_of_apps)

    def _load_metadata(self, app: App, load: Callable[..., Mapping[int, Metadata]]) -> Metadata:
        """An app sees only its own; a caller who sees another app's sees those of all apps."""
        if not self._context.existing_key("App", app.id):
            return {}
        loaded = self._metadata[load]
        if app.id not in loaded:
            own = self._context.actor.app_id
            ids = [app.id] if app.id == own else [key for key in self._ids if key != own]
            loaded |= load(*self._context.caller, ids)
        return loaded.get(app.id, {})

    def access_token(self, app: App) -> str | None:
        """Sign it when it is first selected: several extensions of a page can be of one app."""
        if app.id not in self._access_tokens:
            self._access_tokens[app.id] = self._sign_access_token(app)
        return self._access_tokens[app.id]

    @cached_property
    def _sign_access_token(self) -> Callable[[App], str | None]:
        return extension_token_signer(*self._context.caller)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class ProblemNode(AppProblem):
    """A problem of an app that has a loader."""

    app: AppNode


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookNode(Webhook):
    """A webhook below its app."""

    app: AppNode


def app_node(context: RequestContext, app: App) -> AppNode:
    """One app by itself."""
    return _node(app, AppPageLoader(context, (app,)))


def app_nodes(context: RequestContext, apps: Collection[App]) -> tuple[AppNode, ...]:
    """Return the apps of a list."""
    loader = AppPageLoader(context, apps)
    return tuple(_node(app, loader) for app in apps)


def app_page(context: RequestContext, page: Page[App]) -> Page[AppNode]:
    """A page of apps."""
    return with_items(page, app_nodes(context, page.items))


def extension_page(context: RequestContext, page: Page[Extension]) -> Page[ExtensionNode]:
    """A page of extensions."""
    loader = AppPageLoader(
        context, {extension.app.id: extension.app for extension in page.items}.values()
    )
    return with_items(
        page, (extension_node(extension, _node(extension.app, loader)) for extension in page.items)
    )


def extension_node(extension: Extension, app: AppNode) -> ExtensionNode:
    """Return an extension of an app that has a loader."""
    return ExtensionNode(**_values(extension) | {"app": app})


def webhook_nodes(app: AppNode) -> tuple[WebhookNode, ...]:
    """Return the webhooks of an app that has a loader."""
    webhooks = app.loader.webhooks[app.id]
    return tuple(WebhookNode(**_values(webhook), app=app) for webhook in webhooks)


def problem_node(problem: AppProblem, app: AppNode) -> ProblemNode:
    """Return a problem of an app that has a loader."""
    return ProblemNode(**_values(problem), app=app)


def _node(app: App, loader: AppPageLoader) -> AppNode:
    return AppNode(**_values(app), loader=loader)


def _values(item: App | AppProblem | Extension | Webhook) -> dict[str, Any]:
    return {attribute.name: getattr(item, attribute.name) for attribute in fields(item)}
