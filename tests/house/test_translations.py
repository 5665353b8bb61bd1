"""Catalogues are whole and fit the code, and translated files show no sentence past them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message

from translations.catalogues import (
    TRANSLATED,
    forms_of,
    missing,
    places_of,
    read,
    template_of,
)
from translations.extraction import (
    page_sentences,
    rule_sentences,
    template_sentences,
    unmarked_in_page,
    unmarked_in_template,
)
from translations.sources import PAGES, TEMPLATES, files

TAG = re.compile(r"</?\w+[^>]*>")
COMMANDS = (
    ":root{",
    "default-src",
    "frame-src",
    "sandbox; ",
    "@media ",
    "flask webhook ",
    "curl ",
    "--",
)
"""How styles, policies and commands begin, which are the same in every language."""

NOT_READ = {
    '<a href="{}">{}</a>',
    '<a href="{}" rel="noreferrer">{}</a>',
    '<span class="{}">{}</span>',
    '<time datetime="{}" title="{}">{}</time>',
    '<time datetime="{}">{}</time>',
    "; style-src 'sha256-",
    '<svg xmlns="http://www.w3.org/2000/svg">',
    r"/\*# sourceMappingURL=.*?\*/",
    r"(color-scheme(?:\"\s+content=\"|\s*:\s*))light dark",
    "Authorization: Bearer ",
    "flask app token create ",
    "flask oidc set active true",
    "flask oidc confirm",
    "flask oidc show",
    "form-control form-control-color",
    "Internal Server Error",  # the API's message; the page's is marked
    "Latchkey",
    "Ctrl",
    "Esc",
    "User",  # a type of the API
    "Northlight ID",  # the sample shop's provider
}
"""Markup, headers and names, which are the same in every language."""


@pytest.mark.parametrize("tag", TRANSLATED)
def test_catalogue_is_current(tag: str) -> None:
    found = {message.id for message in read(tag)}
    needed = {message.id for message in template_of(tag)}
    assert sorted(map(str, needed - found)) == [], "Run make translations; translate these."
    assert sorted(map(str, found - needed)) == [], "Run make translations; these aren't used."


@pytest.mark.parametrize("tag", TRANSLATED)
def test_every_sentence_is_translated(tag: str) -> None:
    assert missing(tag) == []


@pytest.mark.parametrize("tag", TRANSLATED)
def test_translations_keep_values_and_markup(tag: str) -> None:
    assert list(broken_translations(read(tag))) == []


@pytest.mark.parametrize(
    ("english", "translation"),
    [
        ("{name} was deleted.", "Gelöscht."),
        ("{name} was deleted.", "{nam} wurde gelöscht."),
        ("Signed in as %(email)s.", "Angemeldet als %(name)s."),
        ("<b>%(email)s</b> again", "wieder %(email)s"),
        ("Delete", "Löschen "),
        (("{count} app", "{count} apps"), ("Eine App", "{number} Apps")),
    ],
)
def test_broken_translation_is_found(
    english: str | tuple[str, str], translation: str | tuple[str, str]
) -> None:
    catalogue = Catalog(locale="de")
    catalogue.add(english, translation)
    assert len(list(broken_translations(catalogue))) == 1


def test_form_for_one_can_name_the_number_in_words() -> None:
    catalogue = Catalog(locale="de")
    catalogue.add(("{count} app", "{count} apps"), ("Eine App", "{count} Apps"))
    assert list(broken_translations(catalogue)) == []


def test_translated_templates_show_no_other_sentence() -> None:
    found = {
        f"{path.name}: {sentence.singular}"
        for path in files(TEMPLATES, "templates")
        for sentence in unmarked_in_template(path)
        if sentence.singular not in NOT_READ
    }
    assert found == set()


def test_translated_pages_show_no_other_sentence() -> None:
    found = [
        f"{path.name}:{sentence.line}: {sentence.singular}"
        for path in files(PAGES, "")
        for sentence in unmarked_in_page(path)
        if sentence.singular not in NOT_READ and not sentence.singular.startswith(COMMANDS)
    ]
    assert found == []


@pytest.mark.parametrize(
    "template",
    [
        "<p>Delete it</p>",
        '<a aria-label="Close"></a>',
        '{{ parts.field(form.name, hint="At least 8 characters.") }}',
        "{% if x %}Yes{% endif %}",
    ],
)
def test_unmarked_text_of_a_template_is_found(template: str, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(template)
    assert list(unmarked_in_template(path))


def test_marked_text_of_a_template_is_extracted(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text(
        '{{ _("Delete") }} {% trans name=x %}\n  Hello\n  {{ name }}\n{% endtrans %}'
        '{{ parts.field(form.name, hint=_("At least 8."), class="form-control wide") }}'
        '{{ text("{n} app", n=1) }}'
    )
    assert list(unmarked_in_template(path)) == []
    assert {one.singular for one in template_sentences(path)} == {
        "Delete",
        "Hello %(name)s",
        "At least 8.",
        "{n} app",
    }


@pytest.mark.parametrize(
    "code", ['flash("It was deleted.")', 'NAMES = {"a": "Signed out"}', 'page(title="Not here")']
)
def test_unmarked_sentence_of_a_page_is_found(code: str, tmp_path: Path) -> None:
    path = tmp_path / "page.py"
    path.write_text(code)
    assert len(list(unmarked_in_page(path))) == 1


def test_marked_sentences_of_a_page_are_extracted(tmp_path: Path) -> None:
    path = tmp_path / "page.py"
    path.write_text(
        '"""A page."""\nA = translatable("One thing")\n'
        'flash(text("{count} app", "{count} apps", count=2))\n'
        'Problem("X", "No {name}.", values={})\n'
    )
    assert list(unmarked_in_page(path)) == []
    assert {one.key for one in page_sentences(path)} == {
        "One thing",
        ("{count} app", "{count} apps"),
        "No {name}.",
    }


def test_sentences_of_rules_are_messages_plurals_and_marked_labels(tmp_path: Path) -> None:
    path = tmp_path / "rules.py"
    path.write_text(
        '"""Rules of a thing."""\nmessage = "Use more than digits."\nCODE = "NO_CODE"\n'
        'LABEL = translatable("Client ID")\nNAME = "Client secret"\n'
        'Problem("X", "Use a URL: https://x.example", "url")\n'
        'Problem("X", "{count} attempt left.", plural="{count} attempts left.")\n'
    )
    assert {one.key for one in rule_sentences(path)} == {
        "Use more than digits.",
        "Client ID",
        "Use a URL: https://x.example",
        ("{count} attempt left.", "{count} attempts left."),
    }


def broken_translations(catalogue: Catalog) -> Iterator[str]:
    """Yield each translation that lacks a value or a mark of its sentence, or has another."""
    for message in catalogue:
        if message.id and not all(_fits(message, form) for form in forms_of(message)):
            yield str(message.id)


def _fits(message: Message, form: str) -> bool:
    english = message.id if isinstance(message.id, str) else message.id[1]
    values = places_of(form)
    has_values = values == places_of(english)
    if not isinstance(message.id, str):  # "a minute" names the number in words
        has_values = has_values or values == places_of(english) - {"count"}
    has_spaces = (form[:1] == " ", form[-1:] == " ") == (english[:1] == " ", english[-1:] == " ")
    return has_values and has_spaces and sorted(TAG.findall(form)) == sorted(TAG.findall(english))
