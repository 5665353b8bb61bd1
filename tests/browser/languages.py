"""Sentences of the catalogues in the browser: said in a language, and English ones left over."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from babel.messages.catalog import Catalog, Message
from playwright.sync_api import Page

from app.domain.accounts.languages import ENGLISH
from translations.catalogues import PLACES, forms_of, read

SHOWN = """() => {
  const found = new Set(document.title.split(" · "));
  const exempt = "code, pre, kbd, script, style, textarea, body [lang]";
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (!data.trim() || parentElement.closest(exempt)) continue;
    found.add(data).add(parentElement.textContent);
  }
  for (const name of ["aria-label", "title", "placeholder", "alt", "data-label"]) {
    for (const one of document.body.querySelectorAll(`[${name}]`)) {
      found.add(one.getAttribute(name));
    }
  }
  return [...found].map((text) => text.replace(/\\s+/g, " ").trim()).filter(Boolean);
}"""
"""Everything on the page that is read or read out, opened or not, except code and other languages.

A sentence with marks in it is the whole text around them.
"""

_TAG = re.compile(r"</?\w+[^>]*>")
_WORD = re.compile(r"[A-Za-z]{2,}")
_NEVER = r"(?!)"
_NO_VALUES: Mapping[str, object] = {}
_MANY = 4
"""Words from which on a sentence is looked for inside of longer texts, too."""


@cache
def _catalogue(language: str) -> Catalog:
    return read(language)


class Words:
    """What the console says in a language."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._catalogue = None if language == ENGLISH else _catalogue(language)

    def say(self, english: str, **values: object) -> str:
        """Return a sentence with its values; one that the catalogue doesn't have is an error."""
        said = english
        if self._catalogue is not None:
            message = self._catalogue.get(english)
            assert message is not None, f"not a sentence of the console: {english}"
            said = forms_of(message)[0]
        if not values:
            return said
        return said % values if "%(" in english else said.format_map(values)

    def pattern(self, english: str, **values: object) -> re.Pattern[str]:
        """Return what matches a sentence with these values, whatever its other values are."""
        return re.compile(_pattern(self.say(english), values))


class EnglishLeft:
    """English sentences with a translation, looked for in the texts of pages.

    A sentence that is also a translation, as "Active" in French, isn't looked for.
    """

    def __init__(self, language: str) -> None:
        self._seen: set[str] = set()
        self._exact: set[str] = set()
        patterns: list[str] = []
        long: list[str] = []
        catalogue = _catalogue(language)
        said = {form.lower() for message in catalogue if message.id for form in forms_of(message)}
        for english in _translated(catalogue):
            plain = _TAG.sub("", english)
            words = len(_WORD.findall(PLACES.sub(" ", plain)))
            if not PLACES.search(plain):
                self._exact.add(plain)
            if words >= (_MANY if plain in self._exact else 2):
                (long if plain in self._exact else patterns).append(rf"\b{_pattern(plain)}")
        self._exact = {text for text in self._exact if text.lower() not in said}
        self._long = re.compile("|".join(long) or _NEVER)
        self._with_values = re.compile("|".join(patterns) or _NEVER)

    def on(self, page: Page) -> list[str]:
        """Return the English texts of a page, each once for all pages."""
        return list(self.among(page.evaluate(SHOWN)))

    def among(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield the texts that are English, or contain a longer English sentence."""
        for text in set(texts) - self._seen:
            self._seen.add(text)
            if text in self._exact or self._long.search(text) or self._with_values.fullmatch(text):
                yield text


def _translated(catalogue: Iterable[Message]) -> Iterator[str]:
    """Yield the English forms whose translation is another text."""
    for message in catalogue:
        english = (message.id,) if isinstance(message.id, str) else message.id
        if message.id and not {*english} & {*forms_of(message)}:
            yield from (" ".join(form.split()) for form in english)


def _pattern(sentence: str, values: Mapping[str, object] = _NO_VALUES) -> str:
    """Return what matches a sentence; values that aren't given match anything."""
    end, found = 0, ""
    for place in PLACES.finditer(sentence):
        value = values.get(place[1] or place[2])
        found += re.escape(sentence[end : place.start()])
        found += ".+" if value is None else re.escape(str(value))
        end = place.end()
    return found + re.escape(sentence[end:])
