"""What an own template may send: no foreign pictures, pages or scripts, and links left whole.

A template is read as a tree: texts and values in order, conditions and loops with their contents.
Between two conditions the HTML must be complete tags, so that every way through the conditions is
made of tags that were checked. Tags follow a strict grammar, which all programs read alike.
"""

import html
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from app.domain.mails.own_templates import TemplatePart, UrlRule, is_whole_page
from app.domain.values.errors import Problem
from app.domain.values.text import Sentence

VALUE = "\ue000"
"""Takes the place of a value while a template is checked; templates can't contain it."""


def _words(*texts: str) -> frozenset[str]:
    return frozenset(" ".join(texts).split())


_EVERYWHERE = _words(
    "style class id dir lang title role align valign width height bgcolor border aria-label",
    "aria-hidden",
)
_TABLE = _words("cellpadding cellspacing colspan rowspan scope")
_PLAIN = _words(
    "title body div span p br hr h1 h2 h3 h4 h5 h6 b strong i em u s small sub sup code pre",
    "blockquote ul ol li dl dt dd caption thead tbody tfoot tr center abbr address section header",
    "footer main head article",
)
TAGS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_PLAIN, frozenset[str]()),
    **dict.fromkeys(("table", "td", "th"), _TABLE),
    "a": frozenset(("href", "target", "rel")),
    "img": frozenset(("src", "alt")),
    "html": frozenset(("xmlns",)),
    "meta": frozenset(("charset", "name", "content")),
    "style": frozenset(("type", "media")),
}
"""The tags, each with the attributes that it can have in addition to those of every tag."""

PAGE_TAGS = frozenset(("html", "head", "body", "title", "meta"))
"""Tags of a whole page, which the shop's layout has already."""

VOID = _words("br hr img meta")
"""Tags without an end."""

MAX_OPEN = 40
MAX_TAGS = 1_500
MAX_SELECTORS = 200
"""Elements open at once, tags in all, and selectors: the time that styles take to be written into
the tags grows with their product, and programs that read HTML recurse into open elements.
"""

BLOCKS = _words(
    "html head body title div p br hr h1 h2 h3 h4 h5 h6 pre blockquote ul ol li dl dt dd table",
    "caption thead tbody tfoot tr td th center address section header footer main article",
)
"""Tags that separate texts, as a line break does."""

_CSS_FUNCTIONS = _words(
    "rgb rgba hsl hsla calc min max clamp var light-dark not is where nth-child nth-of-type",
    "linear-gradient",
)
_CSS_CALL = re.compile(r"(?<![\w-])([\w-]++)\(")
_CSS_RULE = re.compile(r"@([\w-]++)")
_OWN_IMAGE = re.compile(r"cid:[a-z0-9.@_-]{1,100}", re.IGNORECASE)
_CONTACT = re.compile(r"(?:mailto|tel):[^\s<>]{1,300}", re.IGNORECASE)
_META_NAMES = ("viewport", "color-scheme", "supported-color-schemes", "format-detection")


def attribute_problem(tag: str, name: str, value: str, url_rule: UrlRule) -> Problem | None:
    """Return why ``tag`` can't have this attribute, or ``None``; ``value`` is unescaped."""
    if name not in _EVERYWHERE and name not in TAGS.get(tag, ()):
        return _refused("Remove the attribute {attribute} of <{tag}>.", attribute=name, tag=tag)
    if name == "style":
        return style_problem(value)
    if name == "src" and not _OWN_IMAGE.fullmatch(value):
        return _refused(
            "Images can't be loaded from elsewhere, because that reports who opens the email. "
            'Only attached images work: src="cid:logo@mail".'
        )
    if name == "href" and not value.startswith("#") and not _CONTACT.fullmatch(value):
        return url_rule(value)
    if (tag, name) == ("meta", "name") and value.lower() not in _META_NAMES:
        return _refused("Remove this <meta>: emails can't contain it.")
    return None


def style_problem(css: str) -> Problem | None:
    """Return why a style can't be used, or ``None``: it could load something."""
    if "\\" in css or "<" in css or VALUE in css:
        return _refused("Styles can't contain \\, < or values.")
    for call in _CSS_CALL.finditer(css):
        if call[1].lower() not in _CSS_FUNCTIONS:
            return _refused("Remove {name}() from the style.", name=call[1])
    for rule in _CSS_RULE.finditer(css):
        if rule[1].lower() != "media":
            return _refused(
                "Remove @{name} from the style: only @media is possible.", name=rule[1]
            )
    return None


def _refused(message: Sentence, **values: object) -> Problem:
    return Problem("INVALID", message, values=values)


@dataclass(frozen=True, slots=True)
class Literal:
    """A text of the template, as it is sent."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Value:
    """The place of a value; ``is_link`` if it is a link with its token."""

    name: str
    line: int
    is_link: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """A condition: one of ``branches``. ``needs`` is the link whose presence alone decides."""

    branches: tuple[tuple["Node", ...], ...]
    line: int
    needs: str = ""


@dataclass(frozen=True, slots=True)
class Loop:
    body: tuple["Node", ...]
    line: int


Node: TypeAlias = Literal | Value | Choice | Loop


class Run:
    """Texts and values in a row, joined: each value is one ``VALUE`` character."""

    def __init__(self, pieces: Sequence[Literal | Value]) -> None:
        texts = [piece.text if isinstance(piece, Literal) else VALUE for piece in pieces]
        self.text = "".join(texts)
        self._pieces = pieces
        self._starts = [0]
        for text in texts[:-1]:
            self._starts.append(self._starts[-1] + len(text))

    def line(self, place: int) -> int:
        number = bisect_right(self._starts, place) - 1
        line = self._pieces[number].line
        return line + self.text.count("\n", self._starts[number], place)

    def literals(self) -> Iterator[tuple[int, str]]:
        """Yield the texts with their places."""
        for start, piece in zip(self._starts, self._pieces, strict=True):
            if isinstance(piece, Literal):
                yield start, piece.text

    def value(self, place: int) -> Value:
        """Return the value at ``place``, which holds ``VALUE``."""
        piece = self._pieces[bisect_right(self._starts, place) - 1]
        assert isinstance(piece, Value)  # noqa: S101 - no text holds VALUE: see ``_check_characters``
        return piece


def joined(nodes: Sequence[Node]) -> Iterator[list[Literal | Value] | Choice | Loop]:
    """Yield the nodes, texts and values in a row as one list."""
    pieces: list[Literal | Value] = []
    for node in nodes:
        if isinstance(node, Literal | Value):
            pieces.append(node)
            continue
        if pieces:
            yield pieces
            pieces = []
        yield node
    if pieces:
        yield pieces


_SPACE = " \t\r\n\f"
_ATTRIBUTE = r"""[a-zA-Z][a-zA-Z0-9-]*+(?:="[^"<>]*+"|='[^'<>]*+')?+"""
_ATTRIBUTES = re.compile(rf"""({_ATTRIBUTE})""")
_TAG = re.compile(rf"<(/?)([a-zA-Z][a-zA-Z0-9]*+)((?:[{_SPACE}]++{_ATTRIBUTE})*+)[{_SPACE}]*+/?+>")
_COMMENT = re.compile(rf"<!--(?![>-])[^<>{VALUE}-]*+(?:-(?!->)[^<>{VALUE}-]*+)*+-->")
_DOCTYPE = re.compile(rf"<!doctype[{_SPACE}]++html[{_SPACE}]*+>", re.IGNORECASE)
_TEXT = re.compile(r"[^<]++")
_STYLE_END = re.compile(rf"</style[{_SPACE}]*+>", re.IGNORECASE)
_URL = re.compile(
    rf"""(?:\b[a-z][a-z0-9+.-]{{0,20}}+:/
    |\bwww\.
    |(?<![\w@.-])(?:[a-z0-9-]++\.)++[a-z]{{2,}}+/)  # what mail programs turn into a link
    [^{_SPACE}<>"']*+""",
    re.IGNORECASE | re.VERBOSE,
)
_AFTER_URL = ".,;:!?)"
_FORBIDDEN = re.compile(
    "[\0-\x08\x0b\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ue000-\uf8ff]"
)


def content_problems(
    part: TemplatePart, nodes: Sequence[Node], links: Iterable[str], url_rule: UrlRule
) -> tuple[Problem, ...]:
    """Return what is wrong with a part of a template, each with its line.

    ``links`` must be in the text and in the HTML, outside of other conditions.
    """
    whole = part is TemplatePart.HTML and is_whole_page(_beginning(nodes))
    scanner = _Scanner(part, url_rule, is_whole=whole)
    scanner.check(nodes)
    problems = list(scanner.problems)
    if part is not TemplatePart.SUBJECT:
        message = "Add {value}: without it, the email is of no use to the recipient."
        certain = _certain_links(nodes)
        missing = (f"{{{{ {name} }}}}" for name in links if name not in certain)
        problems.extend(_problem(part, 1, message, value=written) for written in missing)
    return tuple(problems)


def _beginning(nodes: Sequence[Node]) -> str:
    first = nodes[0] if nodes else None
    return first.text if isinstance(first, Literal) else ""


def _certain_links(nodes: Sequence[Node]) -> set[str]:
    """Return the links that every email shows, as far as it has them."""
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, Value) and node.is_link:
            found.add(node.name)
        elif isinstance(node, Choice) and node.needs in _certain_links(node.branches[0]):
            found.add(node.needs)
    return found


def _problem(part: TemplatePart, line: int, message: Sentence, **values: object) -> Problem:
    return Problem("INVALID", message, part.value, lines=(line,), values=values)


class _Scanner:
    """Reads a part in order. ``_glued``: the text so far may end in what a link would extend."""

    def __init__(self, part: TemplatePart, url_rule: UrlRule, *, is_whole: bool) -> None:
        self.problems: list[Problem] = []
        self._part = part
        self._url_rule = url_rule
        self._is_whole = is_whole
        self._glued = False
        self._in_loop = False
        self._anchor: Value | None = None
        self._in_anchor = False
        self._open: list[str] = []
        self._tags = 0
        self._selectors = 0

    def check(self, nodes: Sequence[Node]) -> None:
        """Read the whole part."""
        self.walk(nodes)
        if self._open:
            last = nodes[-1]
            breaks = last.text.count("\n") if isinstance(last, Literal) else 0
            self._refuse(last.line + breaks, "Close <{tag}>.", tag=self._open[-1])

    def walk(self, nodes: Sequence[Node]) -> None:
        for node in joined(nodes):
            if isinstance(node, Choice):
                self._walk_choice(node)
            elif isinstance(node, Loop):
                self._walk_loop(node)
            else:
                self._scan(Run(node))

    def _walk_choice(self, choice: Choice) -> None:
        before, ends, opened = self._glued, [], list(self._open)
        for branch in choice.branches:
            self._glued = before
            self.walk(branch)
            self._require_closed(opened, choice.line)
            ends.append(self._glued)
        self._glued = any(ends)

    def _walk_loop(self, loop: Loop) -> None:
        before, self._in_loop, opened = self._glued, True, list(self._open)
        self.walk(loop.body)
        self._require_closed(opened, loop.line)
        self._in_loop, self._glued = False, self._glued or before

    def _refuse(self, line: int, message: Sentence, **values: object) -> None:
        self.problems.append(_problem(self._part, line, message, **values))

    def _scan(self, run: Run) -> None:
        if not self._check_characters(run):
            return
        if self._part is not TemplatePart.HTML:
            self._scan_text(run, 0, run.text)
            return
        place = 0
        while place < len(run.text):
            end = self._scan_html(run, place)
            if end <= place:
                return
            place = end
        if self._in_anchor:
            self._in_anchor = False
            self._refuse(run.line(len(run.text) - 1), "Close <a> before the next {% … %}.")

    def _check_characters(self, run: Run) -> bool:
        for piece_start, text in run.literals():
            found = _FORBIDDEN.search(text)
            if found is not None:
                code = f"U+{ord(found[0]):04X}"
                line = run.line(piece_start + found.start())
                self._refuse(line, "Remove the invisible character {code}.", code=code)
                return False
        return True

    def _scan_html(self, run: Run, place: int) -> int:
        """Check what begins at ``place``; return its end, or ``place`` if it can't be read."""
        text = _TEXT.match(run.text, place)
        if text is not None:
            self._scan_text(run, place, text[0])
            return text.end()
        tag = _TAG.match(run.text, place)
        if tag is not None:
            return self._scan_tag(run, tag)
        quiet = _COMMENT.match(run.text, place) or _DOCTYPE.match(run.text, place)
        if quiet is not None:
            return quiet.end()
        if run.text.startswith("<!--", place):
            message = (
                "Comments can't contain <, > or values, and conditional comments are refused."
            )
        else:
            message = (
                'Write tags like <a href="…">: complete, with quotes, and without {% … %} inside. '
                "For the character itself, write &lt;."
            )
        self._refuse(run.line(place), message)
        return place

    def _scan_tag(self, run: Run, tag: re.Match[str]) -> int:
        name, line = tag[2].lower(), run.line(tag.start())
        if name not in TAGS:
            self._refuse(line, "Remove <{tag}>: emails can't contain it.", tag=name)
        elif name in PAGE_TAGS and not self._is_whole:
            message = "<{tag}> is part of the layout. To replace it, begin with <!doctype html>."
            self._refuse(line, message, tag=name)
        self._check_attributes(run, tag)
        if name in TAGS:
            self._nest(name, line, is_end=bool(tag[1]))
        if name in BLOCKS:
            self._glued = False
        if name == "a":
            self._scan_anchor(run, tag)
        if name == "style" and not tag[1]:
            return self._scan_style(run, tag.end())
        return tag.end()

    def _nest(self, name: str, line: int, *, is_end: bool) -> None:
        """Note what is open: HTML nested too deep ends the process that renders it."""
        self._tags += 1
        if self._tags == MAX_TAGS + 1:
            self._refuse(line, "Use at most {limit} tags.", limit=MAX_TAGS)
        if name in VOID:
            return
        if not is_end:
            self._open.append(name)
            if len(self._open) == MAX_OPEN + 1:
                self._refuse(line, "Nest at most {limit} tags.", limit=MAX_OPEN)
        elif self._open and self._open[-1] == name:
            self._open.pop()
        elif self._open:
            self._refuse(line, "Close <{tag}> first.", tag=self._open[-1])
            outer = -1 - self._open[::-1].index(name) if name in self._open else 0
            self._open = self._open[:outer]
        else:
            self._refuse(line, "</{tag}> closes nothing.", tag=name)

    def _require_closed(self, before: list[str], line: int) -> None:
        """Refuse a part of the template that leaves other elements open than it found."""
        if self._open != before and self._part is TemplatePart.HTML:
            tag = self._open[-1] if len(self._open) > len(before) else before[-1]
            self._refuse(line, "Open and close <{tag}> in the same part of {{% … %}}.", tag=tag)
            self._open = list(before)

    def _scan_anchor(self, run: Run, tag: re.Match[str]) -> None:
        if not tag[1] and self._in_anchor:
            self._refuse(run.line(tag.start()), "Close <a> before another <a>.")
        self._in_anchor = not tag[1]
        value = tag[0].find(VALUE)
        is_link = self._in_anchor and value >= 0
        self._anchor = run.value(tag.start() + value) if is_link else None

    def _check_attributes(self, run: Run, tag: re.Match[str]) -> None:
        name, seen = tag[2].lower(), set()
        for found in _ATTRIBUTES.finditer(run.text, tag.start(3), tag.end(3)):
            key, _, quoted = found[0].partition("=")
            line = run.line(found.start())
            if key.lower() in seen:
                self._refuse(
                    line, "Remove the second {attribute} of <{tag}>.", attribute=key, tag=name
                )
            seen.add(key.lower())
            self._check_attribute(run, found, name, key.lower(), quoted[1:-1])

    def _check_attribute(
        self, run: Run, found: re.Match[str], tag: str, key: str, written: str
    ) -> None:
        line = run.line(found.start())
        if VALUE in written:
            place = found.start() + found[0].index(VALUE)
            is_whole = written == VALUE and run.value(place).is_link
            if not (is_whole and (tag, key) == ("a", "href")):
                message = 'Use no values in {attribute}; only links, as <a href="{example}">.'
                example = "{{ link }}"
                self._refuse(line, message, attribute=key, example=example)
            return
        problem = attribute_problem(tag, key, html.unescape(written), self._url_rule)
        if problem is not None:
            self.problems.append(replace(problem, field=self._part.value, lines=(line,)))

    def _scan_style(self, run: Run, start: int) -> int:
        end = _STYLE_END.search(run.text, start)
        if end is None:
            self._refuse(run.line(start - 1), "Close <style> before the next {% … %}.")
            return len(run.text)
        css = run.text[start : end.start()]
        self._selectors += css.count(",") + css.count("{")
        problem = style_problem(css)
        if problem is None and self._selectors > MAX_SELECTORS:
            message = "Use at most {limit} selectors and commas in styles."
            problem = _problem(self._part, 1, message, limit=MAX_SELECTORS)
        if problem is not None:
            lines = (run.line(start),)
            self.problems.append(replace(problem, field=self._part.value, lines=lines))
        self._open.pop()
        return end.end()

    def _scan_text(self, run: Run, start: int, text: str) -> None:
        self._check_urls(run, start, text)
        place = start
        for piece in text.split(VALUE):
            shown = html.unescape(piece) if self._part is TemplatePart.HTML else piece
            if shown:
                self._glued = shown[-1] not in _SPACE
            place += len(piece)
            if place < start + len(text):
                self._scan_value(run.value(place))
            place += 1

    def _scan_value(self, value: Value) -> None:
        written = f"{{{{ {value.name} }}}}"
        if value.is_link:
            if self._part is TemplatePart.SUBJECT:
                self._refuse(value.line, "A subject can't contain {value}.", value=written)
            elif self._in_loop:
                self._refuse(value.line, "Move {value} out of the loop.", value=written)
            elif self._in_anchor and (self._anchor is None or self._anchor.name != value.name):
                message = 'This <a> leads elsewhere: use href="{value}".'
                self._refuse(value.line, message, value=written)
            elif self._glued:
                message = "Put {value} on its own line or after a space, so that it stays whole."
                self._refuse(value.line, message, value=written)
        self._glued = True

    def _check_urls(self, run: Run, start: int, text: str) -> None:
        shown = html.unescape(text) if self._part is TemplatePart.HTML else text
        for found in _URL.finditer(shown):
            line = run.line(start) + shown.count("\n", 0, found.start())
            written = found[0]
            if VALUE in written:
                self._refuse(line, "Write URLs without values in them.")
                continue
            url = written.rstrip(_AFTER_URL)
            problem = self._url_rule(url if ":/" in url else f"https://{url}")
            if problem is not None:
                self.problems.append(replace(problem, field=self._part.value, lines=(line,)))
