"""Manifests: what an app says of itself before it is installed, read with every problem named.

Contract, "Apps": keys in camel case. What is not known here is not looked at.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from app.domain.apps.apps import grantable_problem
from app.domain.apps.manifest_extensions import ManifestExtension, read_extensions
from app.domain.apps.manifest_fields import Members
from app.domain.apps.manifest_webhooks import ManifestWebhook, read_webhooks
from app.domain.apps.version_ranges import is_within
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import Problem, refuse_any
from app.domain.values.service_headers import PLATFORM
from app.domain.values.version import SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class Manifest:
    """A manifest in which everything makes sense; what it left out is empty.

    Without ``token_target_url`` the app has no back end that would want a token.
    """

    identifier: str
    name: str
    version: str
    about: str
    author: str
    audience: str
    permissions: frozenset[Permission]
    app_url: str
    token_target_url: str
    data_privacy_url: str
    homepage_url: str
    support_url: str
    extensions: tuple[ManifestExtension, ...]
    webhooks: tuple[ManifestWebhook, ...]


def read_manifest(document: Mapping[str, object], vendor: str) -> Manifest:
    """Read the manifest in a JSON object; ``vendor`` is the first word of our names.

    The version that it requires goes by the vendor's name or the platform's.

    Refuses all problems at once, each by its key: REQUIRED, INVALID, INVALID_URL_FORMAT,
    INVALID_PERMISSION, OUT_OF_SCOPE_PERMISSION, INVALID_CUSTOM_HEADERS,
    DUPLICATED_EXTENSION_IDENTIFIER, DUPLICATED_WEBHOOK_IDENTIFIER, UNSUPPORTED_SALEOR_VERSION.
    """
    problems: list[Problem] = []
    members = Members(document, problems)
    app_url = members.address("appUrl")
    home = None if problems else app_url
    problem_count = len(problems)
    permissions = members.permissions()
    valid_permissions = None if len(problems) > problem_count else permissions
    too_much = grantable_problem(permissions)
    if too_much is not None:
        problems.append(too_much)
    for owner in dict.fromkeys((vendor.capitalize(), PLATFORM.capitalize())):
        _check_version(members, f"required{owner}Version")
    manifest = Manifest(
        identifier=members.line("id", required=True),
        name=members.line("name", required=True),
        version=members.line("version", required=True),
        about=members.prose("about"),
        author=members.line("author"),
        audience=members.line("audience"),
        permissions=permissions,
        app_url=app_url,
        token_target_url=members.address("tokenTargetUrl"),
        data_privacy_url=members.address("dataPrivacyUrl"),
        homepage_url=members.address("homepageUrl"),
        support_url=members.address("supportUrl"),
        extensions=read_extensions(members, home, valid_permissions),
        webhooks=read_webhooks(members),
    )
    refuse_any(*problems)
    return manifest


def _check_version(members: Members, name: str) -> None:
    required = members.line(name)
    try:
        fits = not required or is_within(SCHEMA_VERSION, required)
    except ValueError:
        members.refuse(name, "INVALID", "Enter a version range, such as ^3.20.")
        return
    if not fits:
        problem = Problem(
            "UNSUPPORTED_SALEOR_VERSION",
            "The app requires API version {required}; this is version {version}.",
            values={"required": required, "version": SCHEMA_VERSION},
        )
        members.add(name, problem)
