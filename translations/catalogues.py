"""The catalogues of ``app/translations``: what belongs into each, reading and updating them."""

import re
from collections.abc import Iterator
from functools import cache
from io import BytesIO
from pathlib import Path
from tempfile import NamedTemporaryFile

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from app.domain.accounts.languages import CONSOLE_TAGS, ENGLISH, SIGNED_OUT_TAGS
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from translations.extraction import (
    Sentence,
    listed_pages,
    page_sentences,
    rule_sentences,
    searched_words,
    template_sentences,
)
from translations.sources import (
    LISTED_PAGES,
    PAGES,
    PARTLY,
    ROOT,
    RULES,
    SIGNED_OUT,
    TEMPLATES,
    files,
)

TRANSLATED = tuple(tag for tag in SIGNED_OUT_TAGS if tag != ENGLISH)
PLACES = re.compile(r"%\((\w+)\)s|\{(\w*)[^{}]*\}")
"""The places of values: ``{name}`` and, in templates, ``%(name)s``."""

_HEADER = """\
# Latchkey, {language}.
# Machine-written; no person who speaks the language has reviewed it yet.
#"""
_WIDTH = 99


def path_of(tag: str) -> Path:
    """Return the catalogue of a language."""
    return ROOT / "app" / "translations" / tag / "LC_MESSAGES" / "messages.po"


def read(tag: str) -> Catalog:
    """Return the catalogue of a language, empty before its first update."""
    if not path_of(tag).exists():
        return Catalog(locale=tag)
    with path_of(tag).open("rb") as file:
        return read_po(file, locale=tag)


@cache
def template(*, whole: bool) -> Catalog:
    """Return all sentences; unless ``whole``, those of pages without a session and of emails."""
    made = Catalog(project="Latchkey", fuzzy=False)
    for path, sentence in _sentences():
        name = path.relative_to(ROOT).as_posix()
        if whole or name.startswith(SIGNED_OUT):
            made.add(sentence.key, locations=[(name, 0)])
    for name, functions in PARTLY.items():
        for sentence in page_sentences(ROOT / "app" / name, functions):
            made.add(sentence.key, locations=[(f"app/{name}", 0)])
    for permission in Permission if whole else ():
        made.add(permission.label, locations=[("app/domain/authorization/permissions.py", 0)])
    for event in EventType if whole else ():
        made.add(event.label, locations=[("app/domain/events.py", 0)])
    for path in files((LISTED_PAGES,), ""):
        for sentence in listed_pages(path):  # the sign-in page names the one it leads to
            made.add(sentence.key, locations=[(path.relative_to(ROOT).as_posix(), 0)])
        for sentence in searched_words(path) if whole else ():
            made.add(sentence.key, locations=[(path.relative_to(ROOT).as_posix(), 0)])
    return made


def template_of(tag: str) -> Catalog:
    """Return the sentences that a language needs: a language of the console needs them all."""
    return template(whole=tag in CONSOLE_TAGS)


def update(tag: str) -> None:
    """Write a catalogue again with the sentences that the code has now."""
    path_of(tag).parent.mkdir(parents=True, exist_ok=True)
    path_of(tag).write_bytes(written(updated(tag)))


def updated(tag: str) -> Catalog:
    """Return a catalogue with the sentences that are new, without those that aren't used."""
    catalogue = read(tag)
    catalogue.update(template_of(tag), no_fuzzy_matching=True, update_creation_date=False)
    catalogue.obsolete.clear()
    catalogue.fuzzy = False
    catalogue.project = "Latchkey"
    catalogue.version = "1"
    catalogue.last_translator = "machine-written, not reviewed"
    catalogue.language_team = ""
    catalogue.header_comment = _HEADER.format(language=catalogue.locale.english_name)
    return catalogue


def forms_of(message: Message) -> tuple[str, ...]:
    """Return a translation's forms: one, or as many as its language has plurals."""
    return (message.string,) if isinstance(message.string, str) else tuple(message.string or ())


def missing(tag: str) -> list[str]:
    """Return the sentences without a translation, or with one that is only guessed."""
    return [
        str(message.id)
        for message in read(tag)
        if message.id and (message.fuzzy or not all(forms_of(message) or [""]))
    ]


def compile_catalogue(tag: str) -> None:
    """Write what pages read, unless it is newer than the catalogue."""
    target = path_of(tag).with_suffix(".mo")
    if target.exists() and target.stat().st_mtime >= path_of(tag).stat().st_mtime:
        return
    with NamedTemporaryFile(dir=target.parent, suffix=".mo.tmp", delete=False) as file:
        write_mo(file, read(tag))
    Path(file.name).chmod(0o644)
    Path(file.name).replace(target)  # at once: a server may be reading


def written(catalogue: Catalog) -> bytes:
    """Return the text of a catalogue, without moments and line numbers that say nothing."""
    file = BytesIO()
    write_po(file, catalogue, width=_WIDTH, sort_output=True, include_lineno=False)
    lines = file.getvalue().decode().splitlines(keepends=True)
    return "".join(line for line in lines if not _MOMENT.match(line)).encode()


_MOMENT = re.compile(r'"(?:POT-Creation-Date|PO-Revision-Date|Generated-By|Report-Msgid)')


def places_of(sentence: str) -> frozenset[str]:
    """Return the names of the values in a sentence."""
    return frozenset(found[1] or found[2] for found in PLACES.finditer(sentence))


def _sentences() -> Iterator[tuple[Path, Sentence]]:
    for path in files(TEMPLATES, "templates"):
        for sentence in template_sentences(path):
            yield path, sentence
    for path in files(PAGES, ""):
        for sentence in page_sentences(path):
            yield path, sentence
    for path in files(RULES, ""):
        for sentence in rule_sentences(path):
            yield path, sentence
