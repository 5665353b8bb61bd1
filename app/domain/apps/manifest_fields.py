"""Read a foreign JSON object: report every problem once."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.domain.authorization.permissions import Permission, known
from app.domain.urls.web_urls import is_web_url
from app.domain.values.errors import Problem
from app.domain.values.json_values import is_keepable
from app.domain.values.text import Sentence
from app.domain.values.text_rules import line_problem, prose_problem

MAX_LINE_LENGTH = 256
_MAX_PROSE_LENGTH = 20_000


@dataclass(slots=True)
class Members:
    """The members of an object; their problems are added to ``problems``.

    ``field`` is the input at fault for a nested object (``webhooks``), and ``place`` names the
    part in messages (``webhooks[2]``). At the top each member is its own field.
    """

    values: Mapping[str, object]
    problems: list[Problem]
    field: str = ""
    place: str = ""

    def refuse(self, name: str, code: str, message: Sentence) -> None:
        """Add a problem of the member ``name`` whose message has no values."""
        self.add(name, Problem(code, message))

    def add(self, name: str, problem: Problem) -> None:
        """Add ``problem`` of the member ``name``, with its field and place."""
        place = f"{self.place}.{name}" if self.place else ""
        self.problems.append(replace(problem, field=self.field or name, place=place))

    def line(self, name: str, *, required: bool = False, max_length: int = MAX_LINE_LENGTH) -> str:
        """One line of text; empty when it is absent, which is refused where it is ``required``."""
        text = self._text(name, required=required)
        return self._unless(name, line_problem(text, name, max_length=max_length), text)

    def prose(self, name: str, *, required: bool = False) -> str:
        """Text of several lines."""
        text = self._text(name, required=required)
        return self._unless(name, prose_problem(text, name, max_length=_MAX_PROSE_LENGTH), text)

    def address(self, name: str, *, required: bool = False) -> str:
        """A whole address of HTTP."""
        text = self._text(name, required=required)
        if text and not is_web_url(text):
            message = (
                "Must be an http or https URL without a user name, such as https://example.com/."
            )
            self.refuse(name, "INVALID_URL_FORMAT", message)
            return ""
        return text

    def flag(self, name: str, *, otherwise: bool) -> bool:
        """A boolean."""
        value = self.values.get(name)
        if isinstance(value, bool):
            return value
        if value is not None:
            self.refuse(name, "INVALID", "Must be true or false.")
        return otherwise

    def names(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        values = self._list(name)
        texts = tuple(value for value in values if isinstance(value, str))
        if len(texts) != len(values):
            self.refuse(name, "INVALID", "Must be a list of names.")
        return texts

    def permissions(self, name: str = "permissions") -> frozenset[Permission]:
        """A list of permissions, of which every one must exist."""
        names = self.names(name)
        permissions = known(names)
        unknown = unknown_names(names, permissions, max_length=MAX_LINE_LENGTH)
        if unknown:
            self.add(name, _unknown_permissions(unknown))
        return permissions

    def mapping(self, name: str) -> Mapping[str, object]:
        """An object that is kept as it is."""
        value = self.values.get(name)
        if value is None:
            return {}
        if not isinstance(value, Mapping) or not is_keepable(value):
            self.refuse(name, "INVALID", "Must be an object of plain values, not too deep.")
            return {}
        return value

    def parts(self, name: str, *, max_items: int) -> "tuple[Members, ...]":
        """The objects in a list, each to be read in its turn."""
        values = self._list(name)
        if len(values) > max_items:
            self.add(name, _too_many(max_items, len(values)))
            return ()
        read = []
        for number, value in enumerate(values):
            place = f"{name}[{number}]"
            if isinstance(value, Mapping):
                read.append(Members(value, self.problems, name, place))
            else:
                self.problems.append(Problem("INVALID", "Must be an object.", name, place=place))
        return tuple(read)

    def _list(self, name: str) -> Sequence[object]:
        value = self.values.get(name)
        if value is None:
            return ()
        if not isinstance(value, list):
            self.refuse(name, "INVALID", "Must be a list.")
            return ()
        return value

    def _text(self, name: str, *, required: bool) -> str:
        value = self.values.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if value is not None and not isinstance(value, str):
            self.refuse(name, "INVALID", "Must be a string.")
        elif required:
            self.refuse(name, "REQUIRED", "This is required.")
        return ""

    def _unless(self, name: str, problem: Problem | None, text: str) -> str:
        if problem is None:
            return text
        self.add(name, problem)
        return ""


def unknown_names(
    names: Iterable[str], known_names: Container[str], *, max_length: int
) -> list[str]:
    """Return those of ``names`` that aren't known, each once and cut to ``max_length``."""
    return [name[:max_length] for name in dict.fromkeys(names) if name not in known_names]


def _unknown_permissions(names: Sequence[str]) -> Problem:
    return Problem(
        "INVALID_PERMISSION",
        "Unknown permission: {names}.",
        plural="Unknown permissions: {names}.",
        values={"count": len(names), "names": ", ".join(names)},
    )


def _too_many(max_items: int, count: int) -> Problem:
    return Problem(
        "INVALID",
        "Use at most {max_items} items; this has {count}.",
        values={"max_items": max_items, "count": count},
    )


@dataclass(slots=True)
class Identifiers:
    """Those that have been met so far in one list."""

    met: set[str] = field(default_factory=set)

    def is_new(self, identifier: str) -> bool:
        """Whether the identifier is new in this list; an empty one always is."""
        if identifier in self.met:
            return False
        if identifier:
            self.met.add(identifier)
        return True
