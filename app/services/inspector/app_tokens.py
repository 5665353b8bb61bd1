"""App tokens under the inspector: which app's, whether it is good, and for what."""

from sqlalchemy import ColumnElement

from app.domain.apps.apps import App, has_foreign_form, is_app_token, token_digest
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import split_names
from app.domain.inspector import (
    Check,
    CheckName,
    Inspection,
    TokenApp,
    TokenKind,
    app_rights,
    failed,
    passed,
)
from app.models import AppRecord, AppTokenRecord
from app.ports import NamedRow, Ports
from app.services.authorization.register import part
from app.services.identity.imported_tokens import match_imported_token
from app.services.identity.own_tokens import digest_of_token
from app.services.identity.stored_apps import ALL_APPS, to_app

_OF_TOKEN = (
    AppTokenRecord.name.label("token_name"),
    AppTokenRecord.last_four.label("token_last_four"),
    AppTokenRecord.expires_at.label("token_expires_at"),
    AppTokenRecord.permissions.label("token_permissions"),
    AppRecord.is_installed,
)


@part
def inspect_app_token(ports: Ports, token: str) -> Inspection:
    """Inspect a text that begins as app tokens do; one statement. Never raises."""
    if not is_app_token(token):
        text = "It starts like an app token, but its checksum is wrong."
        return Inspection(TokenKind.APP, (failed(CheckName.FORM, text),))
    check = passed(CheckName.FORM, "A complete app token: its checksum is valid.")
    row = _find(ports, AppTokenRecord.digest == token_digest(token))
    if row is None:
        text = "No app has this token: it was revoked or belongs to another installation."
        return Inspection(TokenKind.APP, (check, failed(CheckName.SESSION, text)))
    return _inspection(ports, row, check)


@part
def inspect_imported_token(ports: Ports, actor: Actor, token: str) -> Inspection | None:
    """Inspect a token that an app brought along; ``None`` if no app here has it.

    It is compared with the hashes of imported tokens, and stays one that wasn't used here yet.
    Raises ``TooManyRequests`` if it can't be compared right now.
    """
    if not has_foreign_form(token):
        return None
    text = "An app token from another installation."
    row = _find(ports, AppTokenRecord.digest == token_digest(token))
    if row is None:
        match = match_imported_token(ports, token, digest_of_token(token), actor.address)
        row = None if match is None else _find(ports, AppTokenRecord.id == match.id)
        text = "An app token from another installation. It hasn't been used here yet."
    return None if row is None else _inspection(ports, row, passed(CheckName.FORM, text))


def _find(ports: Ports, condition: ColumnElement[bool]) -> NamedRow | None:
    query = (
        ALL_APPS.add_columns(*_OF_TOKEN)
        .join(AppTokenRecord, AppTokenRecord.app_id == AppRecord.id)
        .where(condition)
    )
    with ports.database.reading() as session:
        return session.execute(query).one_or_none()


def _inspection(ports: Ports, row: NamedRow, check: Check) -> Inspection:
    app = to_app(row)
    expires_at, limit = row.token_expires_at, row.token_permissions
    ends = failed(CheckName.TIME, "It has expired.")
    if expires_at is None or expires_at > ports.clock.now():
        ends = passed(
            CheckName.TIME, "It never expires." if expires_at is None else "Not expired."
        )
    return Inspection(
        TokenKind.APP,
        (
            check,
            passed(CheckName.SESSION, "The app has this token."),
            ends,
            _active(app, is_installed=row.is_installed),
        ),
        app=TokenApp(app.id, app.name, app.is_active, row.token_last_four, row.token_name),
        rights=app_rights(app.permissions, None if limit is None else split_names(limit)),
    )


def _active(app: App, *, is_installed: bool) -> Check:
    if app.is_active:
        return passed(CheckName.APP, "The app is active.")
    if not is_installed:
        # It calls back before it has become active.
        return passed(CheckName.APP, "The app is being installed.")
    return failed(CheckName.APP, "The app is deactivated.")
