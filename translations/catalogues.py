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

from app.domain.accounts import languages
from app.domain.authorization.permissions import Permission
from app.domain.events import EventType
from translations.extraction import Code, Found, template_sentences

ROOT = Path(__file__).parent.parent
ENGLISH = {
    "app.commands": "the command line",
    "app.adapters.database.backups": "`flask backup`",
    "app.adapters.database.platform_database": "`flask import platform`",
    "app.domain.commerce.channels": "the API and `flask channel`",
    "app.domain.imports": "`flask import`",
    "app.domain.passwords.imported_hashes": "`flask import`",
    "app.domain.sign_in.rate_limits": "the documentation",
    "app.graphql.root_fields": "the API",
    "app.services.commerce.channels": "the API and `flask channel`",
    "app.services.demo": "texts of the sample shop",
    "app.services.imports": "`flask import`",
    "app.services.operations": "`flask doctor`",
}
"""Modules whose sentences no page shows, and what does: the API, the command line and the docs are
English.
"""

SIGNED_OUT = (
    "app/adapters/mail/email_templates.py",
    "app/templates/_passkeys.html",
    "app/templates/error.html",
    "app/templates/hosted/",
    "app/templates/mail/",
    "app/templates/console/_parts.html",
    "app/templates/console/base_signed_out.html",
    "app/templates/console/error_signed_out.html",
    "app/templates/console/not_me/",
    "app/templates/console/passwords/",
    "app/templates/console/sign_in.html",
    "app/templates/console/sign_in_code.html",
    "app/console/frame/errors.py",
    "app/console/frame/forms.py",
    "app/console/account/not_me.py",
    "app/console/account/passwords.py",
    "app/console/frame/formatting.py",
    "app/console/frame/session.py",
    "app/console/account/sign_in.py",
    "app/console/account/sign_in_code.py",
    "app/hosted/",
    "app/oauth/logout.py",
    "app/oauth/pages.py",
    "app/web/",
    "app/domain/accounts/emails.py",
    "app/domain/accounts/users.py",
    "app/domain/oauth.py",
    "app/domain/passwords/",
    "app/domain/single_sign_on/providers.py",
    "app/services/accounts/account_securing.py",
    "app/services/accounts/email_changes.py",
    "app/services/accounts/email_links.py",
    "app/services/accounts/passkeys.py",
    "app/services/accounts/password_changes.py",
    "app/services/accounts/password_resets.py",
    "app/services/accounts/registration.py",
    "app/services/console/console_sessions.py",
    "app/services/hosted.py",
    "app/services/identity/linked_accounts.py",
    "app/services/identity/provider_assertions.py",
    "app/services/oauth/consents.py",
    "app/services/oauth/devices.py",
    "app/services/oauth/grants.py",
    "app/services/second_factors/",
    "app/services/sign_in/",
    "app/services/single_sign_on/sign_in.py",
)
"""How the names of files begin whose sentences customers read, or staff before they sign in."""

TRANSLATED = tuple(tag for tag in languages.SIGNED_OUT_TAGS if tag != languages.ENGLISH)
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
def code() -> Code:
    """Return the modules of the application."""
    return Code(ROOT / "app")


@cache
def template(*, whole: bool) -> Catalog:
    """Return the sentences: ``whole``, or those of customers and of staff before they sign in."""
    made = Catalog(project="Latchkey", fuzzy=False)
    for path, found in _sentences():
        name = path.relative_to(ROOT).as_posix()
        # The sign-in page names the page that it leads to.
        if whole or name.startswith(SIGNED_OUT) or found.taker == "Entry.label":
            made.add(found.key, locations=[(name, 0)])
    for permission in Permission if whole else ():
        made.add(permission.label, locations=[("app/domain/authorization/permissions.py", 0)])
    for event in EventType if whole else ():
        made.add(event.label, locations=[("app/domain/events.py", 0)])
    return made


def template_of(tag: str) -> Catalog:
    """Return the sentences that a language needs: a language of the console needs them all."""
    return template(whole=tag in languages.CONSOLE_TAGS)


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


def missing(catalogue: Catalog) -> list[str]:
    """Return the sentences without a translation, or with one that is only guessed."""
    return [
        str(message.id)
        for message in catalogue
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


def templates() -> list[Path]:
    """Return the templates of pages and emails."""
    folder = ROOT / "app" / "templates"
    return sorted(path for path in folder.rglob("*") if path.suffix in (".html", ".txt"))


def _sentences() -> Iterator[tuple[Path, Found]]:
    for path in templates():
        for found in template_sentences(path):
            yield path, found
    for name, path in code().paths.items():
        if not name.startswith(tuple(ENGLISH)):
            for found in code().sentences(name):
                yield path, found
