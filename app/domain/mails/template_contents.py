"""What an own template may send: no foreign pictures, pages or scripts, and links left whole.

A template is read as a tree: texts and values in order, conditions and loops with their contents.
Between two conditions the HTML must be complete tags, so that every way through the conditions is
made of tags that were checked. Tags follow a strict grammar, which all programs read alike.
"""

import html
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.domain.mails.own_templates import TemplatePart, UrlRule, is_whole_page
from app.domain.mails.template_nodes import Choice, Literal, Loop, Node, Run, Value, joined
from app.domain.mails.template_tags import (
    BLOCKS,
    MAX_OPEN,
    MAX_SELECTORS,
    MAX_TAGS,
    PAGE_TAGS,
    TAGS,
    VALUE,
    VOID,
    attribute_problem,
    style_problem,
)
from app.domain.values.errors import Problem

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


def _problem(part: TemplatePart, line: int, message: str, **values: object) -> Problem:
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

    def _refuse(self, line: int, message: str, **values: object) -> None:
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
            self._open = (
                self._open[: -1 - self._open[::-1].index(name)] if name in self._open else []
            )
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
            problem = _problem(
                self._part,
                1,
                "Use at most {limit} selectors and commas in styles.",
                limit=MAX_SELECTORS,
            )
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
