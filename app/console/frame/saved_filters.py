"""The saved filters above a list: their links, the dialogs about them, and saving them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qsl, urlencode

from flask import abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import StringField

from app.console.frame.forms import EditedThing, EditForm
from app.console.frame.navigation import PageGroup, list_endpoint
from app.console.frame.parts import Tab
from app.console.frame.session import actor, ports
from app.domain.urls.redirects import with_query
from app.domain.values.errors import Refused
from app.services.console.saved_filters import (
    SavedFilter,
    delete_filter,
    rename_filter,
    save_filter,
    show_badges,
)
from app.web.translation import lazy_text, refused_text, text

SAVE, EDIT = "save-filter", "edit-filter"
"""What ``ask`` in the URL opens: a dialog that saves the filter, or edits the saved one."""

_NO_FILTERS = frozenset({"after", "before", "ask", "select", "address", "attempt", "created"})


class FilterForm(EditForm):
    name = StringField(lazy_text("Name"))


@dataclass(frozen=True, slots=True)
class FilterDialog:
    """A dialog about a filter; its form is sent to ``endpoint``.

    ``is_saved`` offers to delete it; ``back`` is where Cancel leads.
    """

    title: str
    action: str
    endpoint: str
    arguments: Mapping[str, object]
    name: str
    query: str
    back: str
    is_saved: bool

    @property
    def loaded(self) -> str:
        """What the form says that it showed; empty for a filter that isn't saved yet."""
        return str(FilterForm.showing({"name": self.name}).loaded.data) if self.is_saved else ""


@dataclass(frozen=True, slots=True)
class FilterChips:
    """The saved filters of a list; ``ask_url`` opens ``ask``, empty without a filter."""

    all_url: str
    is_all: bool
    chips: tuple[Tab, ...]
    ask_url: str
    ask: str
    dialog: FilterDialog | None


def filter_query(values: Mapping[str, str]) -> str:
    """Return the query string of the filters and the order among the values of a URL."""
    return urlencode(
        {name: value for name, value in values.items() if value and name not in _NO_FILTERS}
    )


def make_filter_chips(
    saved: Iterable[SavedFilter], list_name: str, url: str, values: Mapping[str, str]
) -> FilterChips | None:
    """Return the filters above the list at ``url``, whose page has ``values`` in its URL.

    ``None`` if there is no saved filter and none to save.
    """
    saved, query = tuple(saved), filter_query(values)
    if not saved and not query:
        return None
    params = dict(parse_qsl(query))
    current = next((one for one in saved if dict(parse_qsl(one.query)) == params), None)
    ask = SAVE if current is None else EDIT
    asked_url = f"{url}?{query}" if query else url
    is_asked = bool(query) and values.get("ask") == ask
    return FilterChips(
        all_url=url,
        is_all=not query,
        chips=tuple(Tab(one.name, f"{url}?{one.query}", one == current) for one in saved),
        ask_url=f"{asked_url}&ask={ask}" if query else "",
        ask=text("Save filter …") if current is None else text("Edit filter …"),
        dialog=_dialog(current, list_name, query, asked_url) if is_asked else None,
    )


def _dialog(current: SavedFilter | None, list_name: str, query: str, back: str) -> FilterDialog:
    if current is None:
        return FilterDialog(
            title=text("Save filter"),
            action=text("Save filter"),
            endpoint="console.saved_filters.save",
            arguments={"list_name": list_name},
            name="",
            query=query,
            back=back,
            is_saved=False,
        )
    return FilterDialog(
        title=text("Edit filter"),
        action=text("Save name"),
        endpoint="console.saved_filters.rename",
        arguments={"list_name": list_name, "key": current.id},
        name=current.name,
        query=current.query,
        back=back,
        is_saved=True,
    )


blueprint = PageGroup("saved_filters", __name__, url_prefix="/saved-filters")


@blueprint.post("/<slug:list_name>/save")
def save(list_name: str) -> BaseResponse:
    name = request.form.get("name", "").strip()
    _endpoint(list_name)
    try:
        save_filter(ports(), actor(), list_name, name, _query())
    except Refused as refused:
        return _back(list_name, refused, SAVE)
    flash(text("Saved the filter {name}.", name=name), "ok")
    return _back(list_name)


@blueprint.post("/<slug:list_name>/<key:key>/rename")
def rename(list_name: str, key: int) -> BaseResponse:
    stored = {"name": _name_of(list_name, key)}
    thing = EditedThing(stored["name"], _address(list_name), "SavedFilter", key, is_dialog=True)
    form = FilterForm.from_request(stored, thing)
    name = str(form.name.data or "").strip()
    try:
        rename_filter(ports(), actor(), key, name, stored)
    except Refused as refused:
        return _back(list_name, refused, EDIT)
    flash(text("Renamed the filter to {name}.", name=name), "ok")
    return _back(list_name)


@blueprint.post("/<slug:list_name>/<key:key>/delete")
def delete(list_name: str, key: int) -> BaseResponse:
    """Delete a saved filter; the list stays as it is."""
    try:
        delete_filter(ports(), actor(), key)
    except Refused as refused:
        return _back(list_name, refused)
    flash(text("Filter deleted."), "ok")
    return _back(list_name)


def _name_of(list_name: str, key: int) -> str:
    saved = show_badges(ports(), actor(), list_name).saved_filters
    return next((one.name for one in saved if one.id == key), "")


def _endpoint(list_name: str) -> str:
    return list_endpoint(list_name) or abort(404)


def _query() -> str:
    return filter_query(dict(parse_qsl(request.form.get("query", ""))))


def _back(list_name: str, refused: Refused | None = None, ask: str = "") -> BaseResponse:
    """Return to the list with its filter; after an error with the dialog ``ask``."""
    if refused is not None:
        flash(refused_text(refused), "bad")
    return redirect(_address(list_name, ask), HTTPStatus.SEE_OTHER)


def _address(list_name: str, ask: str = "") -> str:
    values = dict(parse_qsl(_query())) | ({"ask": ask} if ask else {})
    return with_query(url_for(_endpoint(list_name)), **values)
