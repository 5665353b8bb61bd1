"""Saving, renaming and deleting the filters above a list."""

from http import HTTPStatus
from urllib.parse import parse_qsl

from flask import abort, flash, redirect, request, url_for
from werkzeug.wrappers import Response as BaseResponse

from app.console.frame.filter_chips import EDIT, SAVE, filter_query
from app.console.frame.navigation import PageGroup, list_endpoint
from app.console.frame.session import actor, ports
from app.domain.urls.redirects import with_query
from app.domain.values.errors import Refused
from app.services.console.saved_filters import delete_filter, rename_filter, save_filter
from app.web.translation import refused_text, text

blueprint = PageGroup("saved_filters", __name__, url_prefix="/saved-filters")


@blueprint.post("/<slug:list_name>/save")
def save(list_name: str) -> BaseResponse:
    """Save a list's filter under a name."""
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
    """Rename a saved filter."""
    name = request.form.get("name", "").strip()
    try:
        rename_filter(ports(), actor(), key, name)
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


def _endpoint(list_name: str) -> str:
    return list_endpoint(list_name) or abort(404)


def _query() -> str:
    return filter_query(dict(parse_qsl(request.form.get("query", ""))))


def _back(list_name: str, refused: Refused | None = None, ask: str = "") -> BaseResponse:
    """Return to the list with its filter; after an error with the dialog ``ask``."""
    values = dict(parse_qsl(_query()))
    if refused is not None:
        flash(refused_text(refused), "bad")
        values |= {"ask": ask} if ask else {}
    address = with_query(url_for(_endpoint(list_name)), **values)
    return redirect(address, HTTPStatus.SEE_OTHER)
