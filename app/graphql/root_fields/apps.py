"""Find, install, create, change and delete apps."""

from collections.abc import Callable
from typing import Any

import graphene

from app.domain.apps.apps import (
    DEFAULT_AGGREGATION,
    App,
    AppSortField,
    Installation,
    ProblemReport,
)
from app.domain.authorization.actor import Actor
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import key_of
from app.domain.values.inputs import ABSENT
from app.domain.values.pages import Page
from app.graphql import app_nodes
from app.graphql.connections import (
    connection_arguments,
    make_connection,
    page_request,
    sorting_input,
)
from app.graphql.context import Info, RequestContext
from app.graphql.fields import key_in
from app.graphql.root_fields.payloads import (
    AppPayload,
    MutationPayload,
    errors_of,
    mutation,
    query,
)
from app.ports import Ports
from app.services.apps import app_changes, installation_requests
from app.services.apps.app_lists import AppFilter, list_apps, show_app, show_calling_app
from app.services.apps.extensions import ExtensionFilter, list_extensions, show_extension
from app.services.apps.problems import (
    dismiss_own_problems,
    dismiss_problems,
    dismiss_problems_of_app,
    report_problem,
    require_dismisser,
)

_APP = "app.graphql.types.apps.App"
_PROBLEMS = "app.graphql.types.app_problems."
_MAX_DISMISSED = 100
_INPUTS = {
    "by_app": "byApp",
    "by_staff_with_ids": "byStaffWithIds",
    "by_staff_with_keys": "byStaffWithKeys",
}


class AppInput(graphene.InputObjectType):
    """An app. In an update, omitted and null fields keep their values."""

    name = graphene.String()
    identifier = graphene.String()
    permissions = graphene.List(graphene.NonNull("app.graphql.types.permissions.PermissionEnum"))


class AppCreate(AppPayload):
    """The new app and its token, which is returned only once."""

    auth_token = graphene.String()
    app = graphene.Field(_APP)


class _ChangedApp(AppPayload, abstract=True):
    app = graphene.Field(_APP)


class AppUpdate(_ChangedApp):
    """The updated app."""


class AppDelete(_ChangedApp):
    """The deleted app."""


class AppActivate(_ChangedApp):
    """The activated app."""


class AppDeactivate(_ChangedApp):
    """The deactivated app."""


class AppProblemCreateInput(graphene.InputObjectType):
    """What an app reports about itself."""

    message = graphene.String(
        required=True,
        description="What is wrong, from 3 characters on; beyond 2048 it is cut off.",
    )
    key = graphene.String(
        required=True, description="The app's name for this kind of problem: 3 to 128 characters."
    )
    critical_threshold = graphene.InputField(
        f"{_PROBLEMS}PositiveInt",
        description="Makes the problem critical once it was reported this often.",
    )
    aggregation_period = graphene.InputField(
        f"{_PROBLEMS}Minute",
        default_value=DEFAULT_AGGREGATION,
        description="Reports with the same key are one problem if the last was at most this many "
        "minutes ago; with 0 each is a problem.",
    )


class AppProblemDismissByAppInput(graphene.InputObjectType):
    """Which of its problems an app dismisses: by ID or by key, at most 100."""

    ids = graphene.List(graphene.NonNull(graphene.ID))
    keys = graphene.List(graphene.NonNull(graphene.String), description="The problems' keys.")


class AppProblemDismissByStaffWithIdsInput(graphene.InputObjectType):
    """Which problems a person dismisses, at most 100."""

    ids = graphene.List(graphene.NonNull(graphene.ID), required=True)


class AppProblemDismissByStaffWithKeysInput(graphene.InputObjectType):
    """Which problems of an app a person dismisses, at most 100 keys."""

    keys = graphene.List(
        graphene.NonNull(graphene.String), required=True, description="The problems' keys."
    )
    app = graphene.ID(required=True)


class AppProblemDismissInput(graphene.InputObjectType):
    """One of the three: the first for apps, the others for people."""

    by_app = AppProblemDismissByAppInput(description="The calling app's problems.")
    by_staff_with_ids = AppProblemDismissByStaffWithIdsInput(description="Problems by ID.")
    by_staff_with_keys = AppProblemDismissByStaffWithKeysInput(
        description="Problems of an app by key."
    )


class AppProblemCreate(MutationPayload):
    """The problem with this report."""

    app_problem = graphene.Field(f"{_PROBLEMS}AppProblem", description="The problem.")
    errors = errors_of("app_problems.AppProblemCreateError")


class AppProblemDismiss(MutationPayload):
    """Whether the problems were dismissed."""

    errors = errors_of("app_problems.AppProblemDismissError")


class AppMutations(graphene.ObjectType):
    """Apps, managed by people who hold MANAGE_APPS."""

    @mutation(
        "Creates an app and its first token, which is returned only once. For staff "
        "with MANAGE_APPS, who can only grant permissions they have.",
        input=AppInput(required=True),
    )
    def app_create(_root: object, info: Info, input: dict[str, Any]) -> AppCreate:
        new = app_changes.NewApp(
            name=input.get("name") or "",
            permissions=frozenset(input.get("permissions") or ()),
            identifier=input.get("identifier") or "",
        )
        created = app_changes.create_app(*info.context.caller, new)
        return AppCreate(
            auth_token=created.token.secret, app=app_nodes.app_node(info.context, created.app)
        )

    @mutation(
        "Updates an app's name, identifier or permissions immediately. For staff with "
        "MANAGE_APPS, not for apps. A permission isn't granted if a webhook of the app "
        "was saved by a person who lacked that permission.",
        id=graphene.ID(required=True),
        input=AppInput(required=True),
    )
    def app_update(_root: object, info: Info, id: str, input: dict[str, Any]) -> AppUpdate:
        changes = {name: value for name, value in input.items() if value is not None}
        permissions = changes.get("permissions")
        change = app_changes.AppChange(
            name=changes.get("name", ABSENT),
            identifier=changes.get("identifier", ABSENT),
            permissions=ABSENT if permissions is None else frozenset(permissions),
        )
        app = app_changes.update_app(*info.context.caller, key_in(id, "App"), change)
        return AppUpdate(app=app_nodes.app_node(info.context, app))

    @mutation(
        "Deletes an app with its tokens, webhooks and extensions. For staff with "
        "MANAGE_APPS, not for apps.",
        id=graphene.ID(required=True),
    )
    def app_delete(_root: object, info: Info, id: str) -> AppDelete:
        return AppDelete(app=_after(info, app_changes.delete_app, id))

    @mutation(
        "Activates an app. For staff with MANAGE_APPS, not for apps.",
        id=graphene.ID(required=True),
    )
    def app_activate(_root: object, info: Info, id: str) -> AppActivate:
        return AppActivate(app=_after(info, app_changes.activate_app, id))

    @mutation(
        "Deactivates an app and all its tokens from the next request. For staff with "
        "MANAGE_APPS, not for apps.",
        id=graphene.ID(required=True),
    )
    def app_deactivate(_root: object, info: Info, id: str) -> AppDeactivate:
        return AppDeactivate(app=_after(info, app_changes.deactivate_app, id))

    @mutation(
        "Reports a problem of the calling app, which staff see at the app; reports with the "
        "same key are counted. An app keeps 100 problems. For apps.",
        input=AppProblemCreateInput(required=True),
    )
    def app_problem_create(_root: object, info: Info, input: dict[str, Any]) -> AppProblemCreate:
        period = input.get("aggregation_period")
        report = ProblemReport(
            key=input["key"],
            message=input["message"],
            critical_threshold=input.get("critical_threshold"),
            aggregation_minutes=DEFAULT_AGGREGATION if period is None else period,
        )
        problem = report_problem(*info.context.caller, report)
        app = show_app(*info.context.caller, problem.app_id)
        shown = (
            None
            if app is None
            else app_nodes.problem_node(problem, app_nodes.app_node(info.context, app))
        )
        return AppProblemCreate(app_problem=shown)

    @mutation(
        "Dismisses problems that apps reported about themselves. An app dismisses its own, "
        "staff with MANAGE_APPS those of all apps.",
        input=AppProblemDismissInput(required=True),
    )
    def app_problem_dismiss(_root: object, info: Info, input: dict[str, Any]) -> AppProblemDismiss:
        _dismiss(info.context, input)
        return AppProblemDismiss()


def _dismiss(context: RequestContext, input: dict[str, Any]) -> None:
    """Dismiss what ``appProblemDismiss`` names; refuses INVALID and REQUIRED on its input."""
    actor, ports = context.actor, context.ports
    require_dismisser(ports, actor)
    given = {name: value for name, value in input.items() if value is not None}
    if len(given) != 1:
        message = "Give exactly one of byApp, byStaffWithIds and byStaffWithKeys."
        raise Refused(Problem("INVALID", message, "input"))
    ((name, values),) = given.items()
    if actor.is_app is not (name == "by_app"):
        message = "People use byStaffWithIds or byStaffWithKeys, apps byApp."
        raise Refused(Problem("INVALID", message, _INPUTS[name]))
    ids, keys = values.get("ids") or (), values.get("keys") or ()
    if name == "by_app" and bool(ids) == bool(keys):
        code = "INVALID" if ids else "REQUIRED"
        raise Refused(Problem(code, "Give either ids or keys.", "byApp"))
    if max(len(ids), len(keys)) > _MAX_DISMISSED:
        message = "Choose at most {most}."
        field = "ids" if ids else "keys"
        raise Refused(Problem("INVALID", message, field, values={"most": _MAX_DISMISSED}))
    problem_ids = [key_of(one, "AppProblem", field="ids") for one in ids]
    if name == "by_app":
        dismiss_own_problems(ports, actor, ids=problem_ids, keys=keys)
    elif name == "by_staff_with_ids":
        dismiss_problems(ports, actor, problem_ids)
    else:
        dismiss_problems_of_app(ports, actor, key_of(values["app"], "App", field="app"), keys)


def _after(
    info: Info, use_case: Callable[[Ports, Actor, int], App], global_id: str
) -> app_nodes.AppNode:
    return app_nodes.app_node(
        info.context, use_case(*info.context.caller, key_in(global_id, "App"))
    )


_INSTALLATION = "app.graphql.types.apps.AppInstallation"
_KIND = "AppInstallation"


class AppInstallInput(graphene.InputObjectType):
    """The app to install and the permissions to grant, whatever its manifest requests."""

    app_name = graphene.String(required=True)
    manifest_url = graphene.String(required=True)
    activate_after_installation = graphene.Boolean(description="Default: true.")
    permissions = graphene.List(graphene.NonNull("app.graphql.types.permissions.PermissionEnum"))


class AppFetchManifest(AppPayload):
    """The manifest of an app."""

    manifest = graphene.Field("app.graphql.types.manifests.Manifest")


class _ChangedInstallation(AppPayload, abstract=True):
    app_installation = graphene.Field(_INSTALLATION)


class AppInstall(_ChangedInstallation):
    """The started installation."""


class AppRetryInstall(_ChangedInstallation):
    """The retried installation."""


class AppDeleteFailedInstallation(_ChangedInstallation):
    """The deleted installation."""


class AppInstallationMutations(graphene.ObjectType):
    """Apps from their manifests, installed by people who hold MANAGE_APPS."""

    @mutation(
        "Fetches and validates an app's manifest without installing the app. For staff "
        "with MANAGE_APPS, not for apps.",
        manifest_url=graphene.String(required=True),
    )
    def app_fetch_manifest(_root: object, info: Info, manifest_url: str) -> AppFetchManifest:
        manifest = installation_requests.fetch_manifest(*info.context.caller, manifest_url)
        return AppFetchManifest(manifest=manifest)

    @mutation(
        "Starts installing an app from its manifest. `appsInstallations` shows the "
        "progress. For staff with MANAGE_APPS, who can only grant permissions they "
        "have.",
        input=AppInstallInput(required=True),
    )
    def app_install(_root: object, info: Info, input: dict[str, Any]) -> AppInstall:
        new = installation_requests.InstallationRequest(
            app_name=input["app_name"],
            manifest_url=input["manifest_url"],
            permissions=frozenset(input.get("permissions") or ()),
            activate=input.get("activate_after_installation") is not False,
        )
        installation = installation_requests.install_app(*info.context.caller, new)
        return AppInstall(app_installation=installation)

    @mutation(
        "Retries a failed installation. For staff with MANAGE_APPS, not for apps.",
        id=graphene.ID(required=True),
        activate_after_installation=graphene.Boolean(
            description="Default: the value of the failed installation."
        ),
    )
    def app_retry_install(
        _root: object, info: Info, id: str, *, activate_after_installation: bool | None = None
    ) -> AppRetryInstall:
        installation = installation_requests.retry_installation(
            *info.context.caller, key_in(id, _KIND), activate=activate_after_installation
        )
        return AppRetryInstall(app_installation=installation)

    @mutation(
        "Deletes a failed installation. For staff with MANAGE_APPS, not for apps.",
        id=graphene.ID(required=True),
    )
    def app_delete_failed_installation(
        _root: object, info: Info, id: str
    ) -> AppDeleteFailedInstallation:
        installation = installation_requests.delete_failed_installation(
            *info.context.caller, key_in(id, _KIND)
        )
        return AppDeleteFailedInstallation(app_installation=installation)


_EXTENSION = "app.graphql.types.apps.AppExtension"

AppCountableConnection = make_connection("App", _APP)
AppExtensionCountableConnection = make_connection("AppExtension", _EXTENSION)


class AppFilterInput(graphene.InputObjectType):
    """Filters for apps."""

    search = graphene.String(description="Matches part of the name.")
    is_active = graphene.Boolean()
    type = graphene.InputField("app.graphql.types.apps.AppTypeEnum")


AppSortingInput = sorting_input("AppSortingInput", "apps", "app.graphql.types.apps.AppSortField")


class AppExtensionFilterInput(graphene.InputObjectType):
    """Filters for extensions."""

    mount_name = graphene.List(
        graphene.NonNull(graphene.String), description="Matches any of these places."
    )
    target_name = graphene.String()


class AppQueries(graphene.ObjectType):
    """Apps and their extensions."""

    @query(
        _APP,
        description="An app by ID, or the calling app. Visible to the app itself, to staff and "
        "with MANAGE_APPS.",
        id=graphene.ID(),
    )
    def app(_root: object, info: Info, id: str | None = None) -> app_nodes.AppNode | None:
        if id is None:
            return app_nodes.app_node(info.context, show_calling_app(*info.context.caller))
        app = show_app(*info.context.caller, key_in(id, "App"))
        return None if app is None else app_nodes.app_node(info.context, app)

    @query(
        AppCountableConnection,
        filter=AppFilterInput(),
        sort_by=AppSortingInput(),
        **connection_arguments(),
        description="For staff: all apps, sorted by name by default.",
    )
    def apps(_root: object, info: Info, **arguments: Any) -> Page[app_nodes.AppNode]:
        filter_ = arguments.get("filter") or {}
        filter_ = AppFilter(
            search=filter_.get("search") or "",
            is_active=filter_.get("is_active"),
            type=filter_.get("type"),
        )
        sort = arguments.get("sort_by") or {"field": AppSortField.NAME}
        page = list_apps(
            *info.context.caller,
            page_request("apps", arguments),
            filter_,
            sort["field"],
            descending=sort.get("direction") == "DESC",
        )
        return app_nodes.app_page(info.context, page)

    @query(
        graphene.NonNull(
            graphene.List(graphene.NonNull("app.graphql.types.apps.AppInstallation"))
        ),
        description="Pending and failed installations. For staff with MANAGE_APPS, not for apps.",
    )
    def apps_installations(_root: object, info: Info) -> tuple[Installation, ...]:
        return installation_requests.list_installations(*info.context.caller)

    @query(
        _EXTENSION,
        description="A dashboard extension of an active app. For staff; for an app its own, and "
        "with MANAGE_APPS all.",
        id=graphene.ID(required=True),
    )
    def app_extension(_root: object, info: Info, id: str) -> app_nodes.ExtensionNode | None:
        extension = show_extension(*info.context.caller, key_in(id, "AppExtension"))
        if extension is None:
            return None
        return app_nodes.extension_node(extension, app_nodes.app_node(info.context, extension.app))

    @query(
        AppExtensionCountableConnection,
        description="Dashboard extensions of active apps, oldest first. For staff; for an app its "
        "own, and with MANAGE_APPS all.",
        filter=AppExtensionFilterInput(),
        **connection_arguments(),
    )
    def app_extensions(
        _root: object, info: Info, **arguments: Any
    ) -> Page[app_nodes.ExtensionNode]:
        filter_ = arguments.get("filter") or {}
        filter_ = ExtensionFilter(
            tuple(filter_.get("mount_name") or ()), filter_.get("target_name") or ""
        )
        request = page_request("appExtensions", arguments)
        page = list_extensions(*info.context.caller, request, filter_)
        return app_nodes.extension_page(info.context, page)
