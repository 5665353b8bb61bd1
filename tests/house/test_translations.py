"""Catalogues are whole and fit the code, and translated files show no sentence past them."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message

from tests.fixtures.cases import cases
from translations.catalogues import (
    ENGLISH,
    ROOT,
    SIGNED_OUT,
    TRANSLATED,
    code,
    forms_of,
    missing,
    places_of,
    read,
    template_of,
    templates,
)
from translations.extraction import Code, template_sentences, unmarked_in_template

pytestmark = [pytest.mark.first, pytest.mark.xdist_group("sources")]

TAG = re.compile(r"</?\w+[^>]*>")
COMMANDS = (":root{", "default-src", "frame-src", "sandbox; ", "@media ", "flask ", "curl ", "--")
"""How styles, policies and commands begin, which are the same in every language."""

NOT_READ = {
    "; style-src 'sha256-",
    r"/\*# sourceMappingURL=.*?\*/",
    r"(color-scheme(?:\"\s+content=\"|\s*:\s*))light dark",
    "Authorization: Bearer ",
    "flask app token create ",
    "flask oidc set active true",
    "flask oidc confirm",
    "flask oidc show",
    "form-control form-control-color",
    " checked disabled",
    "Internal Server Error",  # the API's message; the page's is marked
    "Latchkey",
    "Microsoft Entra ID",
    "OpenID Connect",
    "Ctrl",
    "Esc",
    "User",  # a type of the API
    "Northlight ID",  # the sample shop's provider
}
"""Headers and names, which are the same in every language."""

ENGLISH_PAGES = ("demo_provider.html", "playground.html")
"""Pages for developers."""

WHOLE = re.compile(r"[A-Z{<].* .*[.?]")
RULES = ("app.domain.", "app.services.", "app.adapters.", "app.web.")
FAULTS = {
    "This thread has a transaction open already.",
    "A use case that reads from the replica can't write.",
    "The first use of the signing keys is inside a transaction.",
    "This account has a second factor: ask for it before the session begins.",
    "No event tells of such a deletion.",
    "The moment can't be shown in every time zone.",
    "Invalid token. It cannot be decoded.",
    "Invalid token. Create new one by using tokenCreate mutation.",
    "The identity provider that issued this token isn't responding.",
    "Storefront traffic is not allowed.",
    "Install the version that upgraded it, or restore a backup from before that upgrade.",
    "The account is deactivated or unlinked, or its owner has signed out everywhere since then.",
    "The user-info endpoint returned an encrypted or malformed JWT.",  # see domain/values/failures
    "A refresh token was used twice.",
    "The program or its scopes changed since the page was shown.",  # the page is shown anew
    "An authorization code was used twice.",
    "The client revoked its token.",
    "The person hasn't allowed this client so much.",
    "The token needs the scope openid.",
    "You don't have access to this channel.",  # the console has its own page for what is denied
    "You no longer have access to a channel.",
    "List reverse proxies in TRUSTED_PROXIES.",
    "The check isn't done yet.",
    "The request body has too many small chunks. Send chunks of 4 KiB or more.",
    "The request ended before its announced length, or can't be read.",
    "The request body did not arrive in time.",
}
"""Sentences of logs, of faults in the code, and of answers to programs."""


@cache
def stored(tag: str) -> Catalog:
    """Return the catalogue of a language, read once."""
    return read(tag)


@cases("tag", TRANSLATED)
def test_since_is_followed_by_its_moment(tag: str) -> None:
    since = [str(one.string) for one in stored(tag) if "since {" in str(one.id)]
    words = ("seit", "depuis", "desde", "od", "منذ")
    broken = re.compile(rf"\b({'|'.join(words)})\s*:\s*\{{")
    assert not [translation for translation in since if broken.search(translation)]


@cases("tag", TRANSLATED)
def test_catalogue_is_current(tag: str) -> None:
    found = {message.id for message in stored(tag)}
    needed = {message.id for message in template_of(tag)}
    assert sorted(map(str, needed - found)) == [], "Run make translations; translate these."
    assert sorted(map(str, found - needed)) == [], "Run make translations; these aren't used."


def test_listed_files_exist() -> None:
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "app").rglob("*.*")]
    assert [one for one in SIGNED_OUT if not any(name.startswith(one) for name in files)] == []
    assert [one for one in ENGLISH if not any(name.startswith(one) for name in code().paths)] == []


@cases("tag", TRANSLATED)
def test_every_sentence_is_translated(tag: str) -> None:
    assert missing(stored(tag)) == []


@cases("tag", TRANSLATED)
def test_translations_keep_values_and_markup(tag: str) -> None:
    assert list(broken_translations(stored(tag))) == []


@cases(
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


def test_templates_show_no_other_sentence() -> None:
    found = {
        f"{path.name}: {sentence.singular}"
        for path in templates()
        if path.name not in ENGLISH_PAGES
        for sentence in unmarked_in_template(path)
        if sentence.singular not in NOT_READ
    }
    assert found == set()


def test_pages_show_no_other_sentence() -> None:
    found = [
        f"{name}:{sentence.line}: {sentence.singular}"
        for name in code().paths
        if name.startswith("app.console")
        for sentence in code().unmarked(name)
        if sentence.singular not in NOT_READ and not sentence.singular.startswith(COMMANDS)
    ]
    assert found == []


def test_rules_have_no_other_sentence() -> None:
    found = [
        f"{name}:{sentence.line}: {sentence.singular}"
        for name in code().paths
        if name.startswith(RULES) and not name.startswith(tuple(ENGLISH))
        for sentence in code().unmarked(name)
        if WHOLE.fullmatch(sentence.singular) and sentence.singular not in FAULTS
    ]
    assert found == [], (
        "Give what takes these the type Sentence, or list them in ENGLISH or FAULTS."
    )


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
    "line", ['flash("It was deleted.")', 'NAMES = {"a": "Signed out"}', 'page(title="Not here")']
)
def test_unmarked_sentence_of_a_page_is_found(line: str, tmp_path: Path) -> None:
    assert len(list(_code(tmp_path, page=line).unmarked("shop.page"))) == 1


def test_sentences_are_found_where_their_type_is_taken(tmp_path: Path) -> None:
    shop = _code(
        tmp_path,
        marks="""
def text(singular: Sentence, plural: Plural = "", /, **values): ...
class Problem:
    code: str
    template: Sentence
    plural: Plural = ""
class Event:
    def __init_subclass__(cls, when: Sentence, kind: str): ...
""",
        page='''"""A page."""
from shop.marks import Event, Problem, text
text("{count} app", "{count} apps", count=2)
Problem("NO_NAME", template=Markup("No <b>{name}</b>."))
class Made(Event, when="It was made.", kind="Any kind"): ...
LABEL: Sentence = "One thing"
_MESSAGES = {"one key": "One message.", "other": "Another."}
def refuse(key):
    message, why = ("It is on.", "a key") if key else ("It is off.", "a key")
    raise Refused(Problem("X", message), Problem("Y", _MESSAGES[key]))
def wrong(account) -> Sentence:
    return account.why or "It is wrong."
class Form:
    def refuse(self, code, message: Sentence): ...
form.refuse("A CODE", "It is refused.")
''',
    )
    assert {one.key for one in shop.sentences("shop.page")} == {
        ("{count} app", "{count} apps"),
        "No <b>{name}</b>.",
        "It was made.",
        "One thing",
        "One message.",
        "Another.",
        "It is on.",
        "It is off.",
        "It is wrong.",
        "It is refused.",
    }
    assert {one.singular for one in shop.unmarked("shop.page")} >= {"Any kind", "one key"}


def _code(folder: Path, **modules: str) -> Code:
    (folder / "shop").mkdir()
    for name, text in modules.items():
        (folder / "shop" / f"{name}.py").write_text(text)
    return Code(folder / "shop")


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
