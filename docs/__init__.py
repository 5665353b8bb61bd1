"""Pages printed from the code; ``python -m docs`` (``make docs``) writes them."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from graphql import print_schema

from app.graphql.schema import schema
from docs.access import printed_access
from docs.api_reference import printed_index, printed_subject
from docs.api_subjects import SUBJECTS
from docs.apps import printed_apps
from docs.asvs import printed_requirements
from docs.collection import printed_collection
from docs.commands import printed_commands
from docs.errors import printed_errors
from docs.events import printed_events
from docs.exports import printed_exports
from docs.import_findings import printed_findings
from docs.languages import printed_languages
from docs.limits import printed_limits
from docs.manual import printed_manual
from docs.permissions import printed_permissions
from docs.releases import printed_releases
from docs.settings import printed_settings
from docs.speed import printed_speed
from docs.webhooks import printed_webhooks

FOLDER = Path(__file__).parent


def printed_schema() -> str:
    """The schema as it is served, with its descriptions."""
    return f"{print_schema(schema.graphql_schema)}\n"


PAGES: Mapping[str, Callable[[], str]] = {
    "../app/domain/accounts/language_names.txt": printed_languages,
    "schema.graphql": printed_schema,
    "collection/latchkey.postman_collection.json": printed_collection,
    "guides/apps.md": printed_apps,
    "reference/events.md": printed_events,
    "reference/webhooks.md": printed_webhooks,
    "reference/access.md": printed_access,
    "reference/commands.md": printed_commands,
    "reference/limits.md": printed_limits,
    "reference/settings.md": printed_settings,
    "guides/permissions.md": printed_permissions,
    "reference/errors.md": printed_errors,
    "operations/export.md": printed_exports,
    "operations/upgrade.md": printed_releases,
    "moving-in.md": printed_findings,
    "reference/graphql/index.md": printed_index,
    **{f"reference/graphql/{name}.md": partial(printed_subject, name) for name in SUBJECTS},
    "latchkey.1": printed_manual,
    "security/asvs.md": printed_requirements,
    "speed.md": printed_speed,
}
"""What is written under which name."""
