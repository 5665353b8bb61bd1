"""The language of a page, and its sentences in that language, from the catalogues of gettext.

The English sentence is the key: a sentence without a translation stays English. Messages of the
API and of the command line aren't translated.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from math import ceil
from typing import Any, TypeVar
from urllib.parse import urlencode

from babel import Locale
from babel.lists import format_list
from babel.numbers import format_decimal
from flask import Flask, g, has_request_context, request
from flask_babel import Babel, LazyString, get_locale, get_translations, refresh
from markupsafe import Markup
from typing_extensions import override

from app.domain.accounts.addresses import country_name
from app.domain.accounts.languages import (
    CONSOLE_TAGS,
    ENGLISH,
    LANGUAGE_NAMES,
    SHIPPED_LANGUAGES,
    shipped_tag,
)
from app.domain.authorization.permissions import Permission
from app.domain.oauth import SCOPE_SENTENCES
from app.domain.second_factors import SecondFactorType
from app.domain.values.errors import Problem, Refused, with_place
from app.domain.values.text import Phrase, Phrases, Plural, Sentence, find_reason, translatable

_RIGHT_TO_LEFT = ("ar",)
_SMALLEST_GROUPED = 1000
"""Smaller counts are written alike in every language."""

_MINUTE = 60

_ENGLISH_LISTS = "en_001"
"""International English, which has no comma before "and"."""

Key = TypeVar("Key")


def set_up_translation(app: Flask) -> None:
    """Let pages and templates of ``app`` speak the language of the request."""
    app.jinja_env.policies["ext.i18n.trimmed"] = True
    Babel().init_app(app, default_locale=ENGLISH, locale_selector=_chosen)
    # Flask-Babel's own functions look for the catalogue again at each sentence.
    app.jinja_env.install_gettext_callables(  # type: ignore[attr-defined]
        gettext=lambda sentence: _catalogue().ugettext(sentence),
        ngettext=lambda one, many, count: _catalogue().ungettext(one, many, count),
        newstyle=True,
    )


def use_language(tag: str) -> None:
    """Show the page of this request in a language that is shipped."""
    g.language = tag
    g.pop("catalogue", None)
    refresh()


def browser_language() -> str:
    """Return the first shipped language that the browser asks for; empty if it asks for none."""
    wanted = (shipped_tag(tag) for tag, quality in request.accept_languages if quality)
    return next(filter(None, wanted), "")


def person_language(code: str) -> str:
    """Return the language of the console for a person's ``language_code``."""
    return shipped_tag(code, CONSOLE_TAGS) or ENGLISH


def page_language() -> str:
    """Return the language of this request's page, as HTML names it: ``de``."""
    return str(get_locale() or ENGLISH)


def page_direction() -> str:
    """Return where the page's lines begin: ``ltr`` or ``rtl``."""
    return "rtl" if page_language() in _RIGHT_TO_LEFT else "ltr"


ASKED_LANGUAGE = "ui_locales"
"""The parameter of a page's URL that chooses the language before signing in."""


@dataclass(frozen=True, slots=True)
class LanguageLink:
    """A language, and the URL of the request's page in it."""

    tag: str
    name: str
    url: str
    is_current: bool


def language_links() -> list[LanguageLink]:
    """Return this page in every language."""
    others = {name: value for name, value in request.args.items() if name != ASKED_LANGUAGE}
    names = {code.lower(): name for code, name in SHIPPED_LANGUAGES.items()}
    return [
        LanguageLink(
            tag, name, f"?{urlencode({**others, ASKED_LANGUAGE: tag})}", tag == page_language()
        )
        for tag, name in names.items()
    ]


def text(singular: Sentence, plural: Plural = "", /, **values: object) -> str:
    """Return a sentence with its values, in the language of the request.

    As ``app.domain.values.text``: ``count`` chooses the plural form, and ``Markup`` stays markup
    and escapes the values. Outside a request it is English.
    """
    sentence = translated(singular, plural, values)
    if isinstance(singular, Markup):
        sentence = Markup(sentence)  # noqa: S704 - a translation is as trusted as its template
    return sentence.format_map(localized(values)) if values else sentence


def grouped(number: float) -> str:
    """Return a count as the language of the page groups it: ``1,240``."""
    if isinstance(number, int) and 0 <= number < _SMALLEST_GROUPED:
        return str(number)
    return format_decimal(number, locale=page_language())


class _Number(int):
    """A number that ``{count:,}`` groups as the language of the page does."""

    @override
    def __format__(self, spec: str) -> str:
        if spec != ",":
            return super().__format__(spec)
        return grouped(int(self))


def localized(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values of a sentence with their numbers and phrases as its language has them."""
    return {name: _localized(value) for name, value in values.items()}


def _localized(value: object) -> object:
    if isinstance(value, Phrase):
        return reason_text(value)
    if isinstance(value, Phrases):
        return text(value.joint).join(map(reason_text, value.items))
    if isinstance(value, int) and not isinstance(value, bool):
        return _Number(value)
    return value


def translated(singular: str, plural: str, values: Mapping[str, object]) -> str:
    """Return a sentence in the language of the request, with the names of its values."""
    if not singular:  # it is the key of the catalogue's header
        return singular
    known = _catalogue()
    if plural:
        return str(known.ngettext(singular, plural, values["count"]))
    return str(known.gettext(singular))


def _catalogue() -> Any:
    """Return the sentences of the request's language, which a page looks up a thousand times."""
    if not has_request_context():
        return get_translations()
    if "catalogue" not in g:
        g.catalogue = get_translations()
    return g.catalogue


def enumeration(items: Iterable[str]) -> str:
    """Return ``items`` in a sentence of the page's language: "a", "a and b", "a, b and c"."""
    language = page_language()
    return format_list(list(items), locale=_ENGLISH_LISTS if language == ENGLISH else language)


def language_name(code: str) -> str:
    """Return what the language of a CLDR code is called in the language of the page."""
    if page_language() == ENGLISH or code not in LANGUAGE_NAMES:
        return LANGUAGE_NAMES.get(code, code)
    return Locale.parse(code).get_display_name(page_language()) or LANGUAGE_NAMES[code]


def country_label(code: str) -> str:
    """Return what the country of a code is called in the language of the page."""
    if page_language() == ENGLISH:
        return country_name(code)
    names: Mapping[str, str] = Locale.parse(page_language(), sep="-").territories
    return names.get(code) or country_name(code)


def texts(sentences: Mapping[Key, str]) -> dict[Key, str]:
    """Return a table of labels, each in the language of the request."""
    return {key: text(sentence) for key, sentence in sentences.items()}


def scope_texts(scopes: Collection[str]) -> list[str]:
    """Return what an OAuth client with ``scopes`` is allowed, in sentences."""
    found = [text(sentence) for scope, sentence in SCOPE_SENTENCES.items() if scope in scopes]
    labels = [text(one.label) for one in Permission if one in scopes]
    if labels:
        found.append(text("Use your permissions: {permissions}", permissions=", ".join(labels)))
    return found


def lazy_text(sentence: Sentence) -> LazyString:
    """Return a sentence that is translated when it is shown, for labels of classes."""
    return LazyString(text, sentence)


def problem_text(problem: Problem) -> str:
    """Return what is wrong, in the language of the request."""
    return with_place(problem, text(problem.template, problem.plural, **problem.values))


def reasons_text(refused: Refused) -> str:
    """Return all that is wrong as sentences, in the language of the request."""
    return " ".join(problem_text(problem) for problem in refused.problems)


def refused_text(refused: Refused) -> str:
    """Return all that is wrong in one line, in the language of the request."""
    return "; ".join(problem_text(problem) for problem in refused.problems)


def sign_in_refusal(problem: Problem) -> str:
    """Return why someone wasn't signed in; the API's clients get the problem's message."""
    if problem.code == "INVALID_CREDENTIALS":
        return text("Incorrect email or password.")
    wait = problem.values.get("wait")
    if not isinstance(wait, int):
        return problem_text(problem)
    if wait > _MINUTE:
        return text(
            "Too many attempts. Try again in {count} minute.",
            "Too many attempts. Try again in {count} minutes.",
            count=ceil(wait / _MINUTE),
        )
    return text(
        "Too many attempts. Try again in {count} second.",
        "Too many attempts. Try again in {count} seconds.",
        count=wait,
    )


FACTOR_WAYS = {
    SecondFactorType.AUTHENTICATOR_APP: "code",
    SecondFactorType.PASSKEY: "passkey",
    SecondFactorType.RECOVERY_CODES: "recovery",
}
"""How URLs name the ways to answer a second step, the first one that works first."""

FACTOR_TITLES = {
    "code": translatable("Enter your code"),
    "recovery": translatable("Enter a recovery code"),
    "passkey": translatable("Use your passkey"),
}


def reason_text(reason: str) -> str:
    """Return why something failed, as it was stored in English, in the language of the request.

    Other texts, like an endpoint's own words, stay as they are.
    """
    sentence, values = find_reason(reason)
    return text(sentence, **{name: reason_text(value) for name, value in values.items()})


def _chosen() -> str:
    if not has_request_context():
        return ENGLISH
    return str(g.get("language", "")) or browser_language() or ENGLISH
