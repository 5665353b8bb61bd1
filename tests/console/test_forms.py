"""How forms name their errors."""

import pytest
from flask import Flask
from wtforms import StringField

from app.console.frame.forms import ConsoleForm, field_attributes
from app.domain.values.errors import Problem, Refused
from tests.fixtures.cases import cases


class TwoFields(ConsoleForm):
    email = StringField("Email")
    name = StringField("Name")


@cases(
    ("fields", "title"),
    [
        (["email"], "There's a problem with 1 field"),
        (["email", "email"], "There's a problem with 1 field"),
        (["email", "name"], "There are problems with 2 fields"),
        ([None], "There's a problem"),
        (["email", None], "There's a problem"),
    ],
)
def test_title_counts_the_fields_with_errors(
    app: Flask, fields: list[str | None], title: str
) -> None:
    with app.test_request_context():
        form = TwoFields(formdata=None, meta={"csrf": False})
        form.refuse(Refused(*(Problem("INVALID", "It is too long.", one) for one in fields)))
    assert form.summary_title == title
    labelled = [message.startswith(("Email: ", "Name: ")) for at, message in form.summary if at]
    assert all(labelled)
    assert len(form.summary) == len(fields)


def test_form_catches_refusals_and_nothing_else(app: Flask) -> None:
    with app.test_request_context():
        form = TwoFields(formdata=None, meta={"csrf": False})
        with pytest.raises(LookupError), form.catching_refusals():
            raise LookupError
        assert form.summary == []
        with form.catching_refusals():
            raise Refused(Problem("INVALID", "It is too long.", "email"))
    assert list(form.email.errors) == ["It is too long."]


def test_attributes_name_hint_and_error(app: Flask) -> None:
    with app.test_request_context():
        form = TwoFields(formdata=None, meta={"csrf": False})
        form.refuse(Refused(Problem("INVALID", "It is too long.", "email")))
    assert field_attributes(form.email, "A hint", "form-control", {"maxlength": 9}) == {
        "class": "form-control is-invalid",
        "aria-invalid": "true",
        "aria-describedby": "email-hint email-error",
        "maxlength": 9,
    }
    assert field_attributes(form.name, "", "form-control") == {"class": "form-control"}
