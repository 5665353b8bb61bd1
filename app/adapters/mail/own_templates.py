"""The shop's own email templates: a subset of Jinja, checked when it is parsed, then rendered.

The subset is a list of what is allowed, so that later features of Jinja are refused: values by
their documented names, ``if`` and ``for`` over a documented list, listed filters, comparisons and
``and``, ``or``, ``not``. The sandbox is a second wall around it. It can't be the only one: it
refuses when an email is rendered, not when its template is saved, and neither the sandbox nor
``jinja2.meta``, which names variables without their lines and attributes, reads the HTML.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from app.domain.accounts.languages import SHIPPED_LANGUAGES
from app.domain.mails import own_templates
from app.domain.mails.mail import MailKind
from app.domain.mails.template_contents import Choice, Literal, Loop, Node, Value, content_problems
from app.domain.urls.web_urls import parse_web_url
from app.domain.values.errors import Problem
from app.domain.values.text import Sentence
from app.ports.mail import OwnTemplateBroken

_REQUIRED = "This is required."
_TOO_MANY = "Use at most {limit} values and conditions."
_TOO_DEEP = "Conditions or parentheses are nested too deeply."
_REASON_LENGTH = 160
_MAX_NUMBER = 1_000
_CONDITION, _LOOP = "{% if … %}", "{% for … %}"
_LOOP_VALUES = ("first", "last", "index")


class _Refused(Exception):
    def __init__(self, line: int, message: Sentence, **values: object) -> None:
        super().__init__(message)
        self.line, self.message, self.values = line or 1, message, values


def check_template(
    kind: MailKind, template: own_templates.OwnTemplate, url_rule: own_templates.UrlRule
) -> tuple[Problem, ...]:
    """Return what is wrong with ``template``, each with its part as field and its line.

    If nothing is, it is rendered, once with all values and once with the fewest.
    """
    problems = [
        problem
        for part in own_templates.TemplatePart
        for problem in _part_problems(kind, part, template.source(part), url_rule)
    ]
    if not problems:
        texts_of = own_templates.VALUES[kind].values()
        full = {value.name: "sample" for value in texts_of}
        least = {value.name: "" if value.can_be_empty else "sample" for value in texts_of}
        for texts in (full, least):
            try:
                render_template(kind, template, texts, shop_name="Shop")
            except OwnTemplateBroken as broken:
                return (broken.problem,)
    return tuple(problems)


def render_template(
    kind: MailKind,
    template: own_templates.OwnTemplate,
    texts: Mapping[str, str],
    *,
    shop_name: str,
) -> own_templates.OwnTemplate:
    """Return the three parts with their values. Raises ``OwnTemplateBroken``."""
    values = {**own_templates.shown_values(kind, texts), "shop": {"name": shop_name}}
    if "recipient" in texts:
        values["recipient"] = texts["recipient"]
    parts = {
        part.value: _render_part(kind, part, template.source(part), values)
        for part in own_templates.TemplatePart
    }
    subject = " ".join(parts["subject"].split())
    if not subject:
        raise OwnTemplateBroken(
            Problem("REQUIRED", "The subject is empty.", "subject", lines=(1,))
        )
    return own_templates.OwnTemplate(subject, parts["html"], parts["text"].strip() + "\n")


def _environment(*, escapes: bool) -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        autoescape=escapes,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        cache_size=0,
    )
    environment.globals.clear()
    environment.tests.clear()
    environment.filters = {name: environment.filters[name] for name in own_templates.FILTERS}
    environment.filters["default"] = _default
    return environment


def _default(value: object, other: object = "") -> object:
    """Return ``other`` where ``value`` is empty; Jinja's filter asks whether it is defined."""
    return value or other


_ENVIRONMENTS = {
    part: _environment(escapes=part is own_templates.TemplatePart.HTML)
    for part in own_templates.TemplatePart
}


def _part_problems(
    kind: MailKind, part: own_templates.TemplatePart, source: str, url_rule: own_templates.UrlRule
) -> tuple[Problem, ...]:
    try:
        tree = _read(kind, part, source)
    except _Refused as refused:
        return (_problem(part, refused),)
    return content_problems(part, tree, own_templates.links_of(kind), url_rule)


def _problem(part: own_templates.TemplatePart, refused: _Refused) -> Problem:
    code = "REQUIRED" if refused.message == _REQUIRED else "INVALID"
    lines = (refused.line,)
    return Problem(code, refused.message, part.value, lines=lines, values=refused.values)


@lru_cache(maxsize=64)
def _compiled(kind: MailKind, part: own_templates.TemplatePart, source: str) -> object:
    # Imported templates, and those stored under other rules, are checked again, except hosts.
    tree = _read(kind, part, source)
    for problem in content_problems(part, tree, (), lambda _url: None):
        raise OwnTemplateBroken(problem)
    return _ENVIRONMENTS[part].from_string(source)


def _render_part(
    kind: MailKind, part: own_templates.TemplatePart, source: str, values: Mapping[str, object]
) -> str:
    try:
        template = _compiled(kind, part, source)
        return "".join(_capped(template.generate(values)))  # type: ignore[attr-defined]
    except _Refused as refused:
        raise OwnTemplateBroken(_problem(part, refused)) from None
    except (TemplateError, ArithmeticError, TypeError, ValueError, LookupError) as error:
        reason = f"{type(error).__name__}: {error}"[:_REASON_LENGTH]
        problem = Problem(
            "INVALID", "Can't be rendered: {reason}.", part.value, values={"reason": reason}
        )
        raise OwnTemplateBroken(problem) from None


def _capped(pieces: Iterator[str]) -> Iterator[str]:
    length = 0
    for piece in pieces:
        length += len(piece.encode())
        if length > own_templates.MAX_OUTPUT:
            raise _Refused(
                1, "The email is larger than {limit} kB.", limit=own_templates.MAX_OUTPUT // 1024
            )
        yield piece


def _read(kind: MailKind, part: own_templates.TemplatePart, source: str) -> tuple[Node, ...]:
    """Parse ``source``; raises ``_Refused`` for what isn't in the subset."""
    limit = (
        own_templates.MAX_SUBJECT
        if part is own_templates.TemplatePart.SUBJECT
        else own_templates.MAX_SOURCE
    )
    if not source.strip():
        raise _Refused(1, _REQUIRED)
    if len(source) > limit:
        raise _Refused(
            1, "Use at most {limit} characters; this has {count}.", limit=limit, count=len(source)
        )
    environment = _ENVIRONMENTS[part]
    try:
        for count, (line, type_, _) in enumerate(environment.lex(source)):
            if count > own_templates.MAX_TOKENS:
                raise _Refused(line, _TOO_MANY, limit=own_templates.MAX_NODES)
            if type_ == "raw_begin":
                raise _Refused(line, "{tag} is not possible here.", tag="{% raw %}")
        return _Reader(kind).read(environment.parse(source).body, 0)
    except TemplateSyntaxError as error:
        reason = (error.message or "Syntax error").rstrip(".")[:_REASON_LENGTH]
        message = "Jinja can't read this: {reason}."
        raise _Refused(error.lineno, message, reason=reason) from None
    except ValueError:
        raise _Refused(1, "A number is too long.") from None
    except (RecursionError, MemoryError):
        raise _Refused(1, _TOO_DEEP) from None


class _Reader:
    """Turns Jinja's tree into ``Node``s and refuses every kind of node that isn't listed."""

    def __init__(self, kind: MailKind) -> None:
        self._values = own_templates.VALUES[kind]
        self._items: list[str] = []
        self._count = 0

    def read(self, body: Sequence[nodes.Node], depth: int) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in body:
            self._measure(node, depth)
            if isinstance(node, nodes.Output):
                found.extend(self._output(one, depth) for one in node.nodes)
            elif isinstance(node, nodes.If):
                found.append(self._if(node, depth))
            elif isinstance(node, nodes.For):
                found.append(self._for(node, depth))
            else:
                raise _refusal(node)
        return tuple(found)

    def _measure(self, node: nodes.Node, depth: int) -> None:
        self._count += 1
        if self._count > own_templates.MAX_NODES:
            raise _Refused(node.lineno, _TOO_MANY, limit=own_templates.MAX_NODES)
        if depth > own_templates.MAX_DEPTH:
            raise _Refused(node.lineno, _TOO_DEEP)

    def _output(self, node: nodes.Expr, depth: int) -> Literal | Value:
        if isinstance(node, nodes.TemplateData):
            self._measure(node, depth)
            return Literal(node.data, node.lineno)
        inner: nodes.Node | None = node
        while isinstance(inner, nodes.Filter):
            inner = inner.node
        if isinstance(inner, nodes.Const):
            raise _Refused(node.lineno, "Write texts without {{ … }}.")
        name = self._expression(node, depth)
        value = self._values.get(name)
        if value is not None and value.type is own_templates.ValueType.LIST:
            message = "{name} is a list: use {loop} or the filter join."
            raise _Refused(node.lineno, message, name=name, loop=_LOOP)
        is_link = value is not None and value.type is own_templates.ValueType.LINK
        return Value(name, node.lineno, is_link=is_link)

    def _if(self, node: nodes.If, depth: int) -> Choice:
        needs = node.test.name if isinstance(node.test, nodes.Name) else ""
        branches = []
        for one in (node, *node.elif_):
            self._measure(one, depth)
            self._condition(one.test, depth + 1)
            branches.append(self.read(one.body, depth + 1))
        branches.append(self.read(node.else_, depth + 1))
        return Choice(tuple(branches), node.lineno, needs if self._is_link(needs) else "")

    def _for(self, node: nodes.For, depth: int) -> Loop:
        if self._items:
            raise _Refused(node.lineno, "A loop can't contain another loop.")
        if node.test is not None or node.recursive or node.else_:
            raise _Refused(node.lineno, "Use for without if, else and recursive.")
        name = node.iter.name if isinstance(node.iter, nodes.Name) else ""
        value = self._values.get(name)
        if value is None or value.type is not own_templates.ValueType.LIST:
            lists = [
                one.name
                for one in self._values.values()
                if one.type is own_templates.ValueType.LIST
            ]
            if not lists:
                raise _Refused(node.lineno, "This email has no lists, so it can't have loops.")
            raise _Refused(node.lineno, "Loops are possible over {lists}.", lists=", ".join(lists))
        item = node.target.name if isinstance(node.target, nodes.Name) else ""
        if not item or item in self._values or item in ("loop", "shop"):
            raise _Refused(node.lineno, "Use another name for the loop's item.")
        self._items = [item]
        body = self.read(node.body, depth + 1)
        self._items = []
        return Loop(body, node.lineno)

    def _condition(self, node: nodes.Node, depth: int) -> None:
        """Read a condition: comparisons and truth, joined by ``and``, ``or``, ``not``."""
        self._measure(node, depth)
        if isinstance(node, nodes.And | nodes.Or):
            self._condition(node.left, depth + 1)
            self._condition(node.right, depth + 1)
        elif isinstance(node, nodes.Not):
            self._condition(node.node, depth + 1)
        elif isinstance(node, nodes.Compare):
            for operand in (node.expr, *(one.expr for one in node.ops)):
                self._operand(operand, depth + 1)
        else:
            self._expression(node, depth)

    def _operand(self, node: nodes.Node, depth: int) -> None:
        if isinstance(node, nodes.Const):
            _constant(node)
        elif self._is_link(self._expression(node, depth)):
            raise _Refused(node.lineno, "Links can't be compared, only shown.")

    def _expression(self, node: nodes.Node, depth: int) -> str:
        """Read a value with its filters; return its name, "" for what a filter made of it."""
        self._measure(node, depth)
        if isinstance(node, nodes.Filter):
            return self._filter(node, depth)
        if isinstance(node, nodes.Name):
            name = node.name
            if name not in self._values and name not in self._items:
                raise _Refused(node.lineno, "There is no value {name} in this email.", name=name)
            return name
        if isinstance(node, nodes.Getattr) and isinstance(node.node, nodes.Name):
            name = f"{node.node.name}.{node.attr}"
            is_loop = self._items and node.node.name == "loop" and node.attr in _LOOP_VALUES
            if is_loop or name in self._values:
                return name
            raise _Refused(node.lineno, "There is no value {name} in this email.", name=name)
        raise _refusal(node)

    def _filter(self, node: nodes.Filter, depth: int) -> str:
        if node.name not in own_templates.FILTERS:
            names = ", ".join(own_templates.FILTERS)
            message = "There is no filter {name}. Available filters: {names}."
            raise _Refused(node.lineno, message, name=node.name, names=names)
        if node.node is None:
            raise _refusal(node)
        inner = self._expression(node.node, depth + 1)
        if self._is_link(inner):
            raise _Refused(node.lineno, "Links can't be filtered, only shown.")
        if node.kwargs or node.dyn_args or node.dyn_kwargs or len(node.args) > 1:
            raise _Refused(node.lineno, "The filter {name} has at most one value.", name=node.name)
        for argument in node.args:
            if not isinstance(argument, nodes.Const):
                raise _refusal(argument)
            _constant(argument)
        return ""

    def _is_link(self, name: str) -> bool:
        value = self._values.get(name)
        return value is not None and value.type is own_templates.ValueType.LINK


_WORDS: Mapping[type[nodes.Node], Sentence] = {
    nodes.Getitem: "Brackets aren't possible; use the value's name alone.",
    nodes.Call: "Calls aren't possible.",
    nodes.Test: "Tests with is aren't possible.",
    nodes.CondExpr: "Use {% if … %} instead.",
    nodes.Concat: "Texts can't be joined with ~; write the values one after the other.",
    nodes.BinExpr: "Arithmetic isn't possible.",
    nodes.UnaryExpr: "Arithmetic isn't possible.",
    nodes.List: "Lists can't be written here.",
    nodes.Dict: "Dictionaries can't be written here.",
    nodes.Tuple: "Lists can't be written here.",
}


def _refusal(node: nodes.Node) -> _Refused:
    for type_, message in _WORDS.items():
        if isinstance(node, type_):
            return _Refused(node.lineno, message)
    message = "Only values, {condition} and {loop} are possible here, not {name}."
    name = type(node).__name__.lower()
    return _Refused(node.lineno, message, condition=_CONDITION, loop=_LOOP, name=name)


def _constant(node: nodes.Const) -> None:
    value = node.value
    if isinstance(value, str):
        if "://" in value or "www." in value.lower() or len(value) > _MAX_NUMBER:
            raise _Refused(node.lineno, "Write URLs and long texts outside of {{ … }}.")
    elif isinstance(value, bool | None) or (isinstance(value, int) and abs(value) <= _MAX_NUMBER):
        return
    else:
        raise _Refused(node.lineno, "Use texts and numbers up to {limit}.", limit=_MAX_NUMBER)


_MAX_BYTES = 4 * own_templates.MAX_SOURCE
_SUFFIXES = (".txt", ".html")


class JinjaOwnTemplates:
    """Checks templates; finds those in ``folder``, if there is one."""

    def __init__(self, folder: str = "") -> None:
        self._folder = Path(folder) if folder else None

    def check(
        self, kind: MailKind, template: own_templates.OwnTemplate, url_rule: own_templates.UrlRule
    ) -> tuple[Problem, ...]:
        return check_template(kind, template, url_rule)

    def find(self, kind: MailKind, language_code: str) -> own_templates.OwnTemplate | None:
        if self._folder is None:
            return None
        template = _read_pair(self._place(language_code), kind)
        if template is not None:
            _require_good(kind, template)
        return template

    def listed(self) -> tuple[tuple[MailKind, str], ...]:
        if self._folder is None:
            return ()
        places = [(language, self._place(language)) for language in ("", *SHIPPED_LANGUAGES)]
        return tuple(
            (kind, language)
            for kind in MailKind
            for language, place in places
            if any((place / f"{kind.value}{suffix}").is_file() for suffix in _SUFFIXES)
        )

    def faults(self) -> tuple[own_templates.FolderFault, ...]:
        if self._folder is None:
            return ()
        if not self._folder.is_dir():
            problem = Problem("NOT_FOUND", "There is no such folder.")
            return (own_templates.FolderFault(str(self._folder), None, "", problem),)
        return (*self._unknown_files(), *self._broken_templates())

    def _place(self, language: str) -> Path:
        assert self._folder is not None  # noqa: S101 - callers return before
        return self._folder / language.lower() if language else self._folder

    def _broken_templates(self) -> Iterator[own_templates.FolderFault]:
        for kind, language in self.listed():
            try:
                template = _read_pair(self._place(language), kind)
                if template is not None:
                    _require_good(kind, template)
            except OwnTemplateBroken as broken:
                suffix = ".html" if broken.problem.field == "html" else ".txt"
                path = str(self._place(language) / f"{kind.value}{suffix}")
                yield own_templates.FolderFault(path, kind, language, broken.problem)

    def _unknown_files(self) -> Iterator[own_templates.FolderFault]:
        """Yield files that replace nothing: a misspelled name would go unnoticed."""
        for language in ("", *SHIPPED_LANGUAGES):
            place = self._place(language)
            for path in sorted(place.iterdir()) if place.is_dir() else ():
                is_known = path.suffix in _SUFFIXES and path.stem in {*MailKind}
                if path.is_file() and not path.name.startswith(".") and not is_known:
                    message = "No email has this name. Names are KIND.txt and KIND.html."
                    yield own_templates.FolderFault(
                        str(path), None, language, Problem("INVALID", message)
                    )


def _read_pair(place: Path, kind: MailKind) -> own_templates.OwnTemplate | None:
    html, text = (_read_file(place / f"{kind.value}{suffix}") for suffix in (".html", ".txt"))
    if html is None and text is None:
        return None
    if html is None or text is None:
        missing = "html" if html is None else "text"
        name = f"{kind.value}{'.html' if html is None else '.txt'}"
        message = "{name} is missing: an email needs both files."
        raise OwnTemplateBroken(Problem("REQUIRED", message, missing, values={"name": name}))
    subject, _, body = text.partition("\n")
    return own_templates.OwnTemplate(subject, html, body)


def _read_file(path: Path) -> str | None:
    part = path.suffix.removeprefix(".").replace("txt", "text")
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = Problem("INVALID", "Can't be read: {reason}.", part, values={"reason": reason})
        raise OwnTemplateBroken(problem) from None
    if len(data) > _MAX_BYTES:
        message = "The file is larger than {limit} kB."
        limit = _MAX_BYTES // 1024
        raise OwnTemplateBroken(Problem("INVALID", message, part, values={"limit": limit}))
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise OwnTemplateBroken(Problem("INVALID", "The file isn't UTF-8.", part)) from None


def _url_problem(url: str) -> Problem | None:
    """Refuse what isn't an https URL; the folder's owner decides to which hosts links lead."""
    address = parse_web_url(url)
    if address is None or address.scheme != "https":
        return Problem("INVALID", "Use a full URL, such as https://shop.example.com/help.")
    return None


def _require_good(kind: MailKind, template: own_templates.OwnTemplate) -> None:
    problems = _problems(kind, template)
    if problems:
        raise OwnTemplateBroken(problems[0])


@lru_cache(maxsize=64)
def _problems(kind: MailKind, template: own_templates.OwnTemplate) -> tuple[Problem, ...]:
    return check_template(kind, template, _url_problem)
