"""Setting and deleting metadata of people and apps, from their pages."""

from flask import request
from werkzeug.wrappers import Response as BaseResponse

from app.console.navigation import PageGroup
from app.console.page_layout import done, not_done
from app.console.session import actor, ports
from app.domain.values.errors import Refused
from app.domain.values.ids import to_global_id
from app.domain.values.metadata import MetadataChange
from app.domain.values.text import translatable
from app.services.metadata.app_metadata import change_app_metadata
from app.services.metadata.user_metadata import change_user_metadata
from app.services.people.user_sessions import show_person
from app.web.translation import text

blueprint = PageGroup("metadata", __name__, url_prefix="/metadata")


@blueprint.post("/people/<key:key>/save")
def save_of_person(key: int) -> BaseResponse:
    """Set a key of a person's metadata."""
    return _change_person(key, _saving(), translatable("Saved {key}."))


@blueprint.post("/people/<key:key>/delete")
def delete_of_person(key: int) -> BaseResponse:
    """Delete a key of a person's metadata."""
    return _change_person(key, _deleting(), translatable("Deleted {key}."))


@blueprint.post("/apps/<key:key>/save")
def save_of_app(key: int) -> BaseResponse:
    """Set a key of an app's metadata."""
    return _change_app(key, _saving(), translatable("Saved {key}."))


@blueprint.post("/apps/<key:key>/delete")
def delete_of_app(key: int) -> BaseResponse:
    """Delete a key of an app's metadata."""
    return _change_app(key, _deleting(), translatable("Deleted {key}."))


def _saving() -> MetadataChange:
    # Browsers send the line breaks of a text field as CR LF.
    value = request.form.get("value", "").replace("\r\n", "\n")
    return MetadataChange(is_private=_is_private(), values=((_key(), value),))


def _deleting() -> MetadataChange:
    return MetadataChange(is_private=_is_private(), deleted_keys=(_key(),))


def _is_private() -> bool:
    return request.form.get("scope") == "private"


def _key() -> str:
    """Return the key as it is stored, of which spaces can be a part, or one that was entered."""
    entered = request.form.get("new_name", "").strip()
    return entered or request.form.get("name", "").replace("\r\n", "\n")


def _change_person(key: int, change: MetadataChange, message: str) -> BaseResponse:
    is_staff = show_person(ports(), actor(), key).user.is_staff
    there = "console.staff.show" if is_staff else "console.customers.show"
    try:
        change_user_metadata(ports(), actor(), to_global_id("User", key), change)
    except Refused as refused:
        return not_done(refused, there, key=key)
    return done(text(message, key=_key()), there, key=key)


def _change_app(key: int, change: MetadataChange, message: str) -> BaseResponse:
    there = "console.apps.show"
    try:
        change_app_metadata(ports(), actor(), to_global_id("App", key), change)
    except Refused as refused:
        return not_done(refused, there, key=key)
    return done(text(message, key=_key()), there, key=key)
