"""Find the sentences of Python modules and templates, and those that were left unmarked.

In Python a sentence is marked by the type of what takes it: what is passed to a parameter or field
of the type ``Sentence`` (``app.domain.values.text``), what a variable of it holds, and what a
function returns.
"""

import ast
import gc
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from babel.messages.extract import extract_from_file
from jinja2 import Environment, nodes

_TEMPLATE_OPTIONS = {"trimmed": "true"}
_TEMPLATE_KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2), "text": None}
_WORDS = re.compile(r"[A-Z][a-z']+|[A-Za-z']+ [A-Za-z']+")
"""What a person would read as words, unlike a key or a class."""

_SENTENCE = re.compile(r"[A-Z][a-z]+(?:'[a-z]+)?(?: .*|\Z)")
_TAG = re.compile(r"<[^>]*>")
_READ = re.compile(r'\b(?:aria-label|title|alt|placeholder|label)="([^"]*)')
"""Attributes that are read out or shown."""

_COMMAND = "flask "
"""How a remedy begins that is a command, the same in every language."""

_TYPES = ("Sentence", "Plural")


@dataclass(frozen=True, slots=True)
class Found:
    """A sentence of the code; ``plural`` is its form for other numbers than one.

    ``taker`` is what it is passed to: ``Entry.label``.
    """

    singular: str
    plural: str = ""
    line: int = 0
    taker: str = ""

    @property
    def key(self) -> str | tuple[str, str]:
        return (self.singular, self.plural) if self.plural else self.singular


@dataclass(frozen=True, slots=True)
class _Parameter:
    name: str
    type: str
    """One of ``_TYPES``, or empty."""


@dataclass(slots=True)
class _Module:
    nodes: tuple[ast.AST, ...]
    """All of its tree."""

    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Where a name is from: the module, and its name there."""

    assigned: dict[str, list[ast.expr]] = field(default_factory=lambda: defaultdict(list))
    """What a name can be, in any of the module's functions."""

    parameters: dict[str, list[_Parameter]] = field(default_factory=dict)
    """Those of its functions and classes."""


@cache
def nodes_of(text: str) -> tuple[ast.AST, ...]:
    """Return the tree of a module and all of its nodes, which takes as long as parsing it.

    Without garbage collections: each would walk all trees anew.
    """
    gc.disable()
    every = tuple(ast.walk(ast.parse(text)))
    gc.freeze()
    gc.enable()
    return every


class Code:
    """The modules of a package, and what takes sentences in them."""

    def __init__(self, package: Path) -> None:
        self.paths = {
            ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(
                ".__init__"
            ): path
            for path in sorted(package.rglob("*.py"))
        }
        self._methods = {"gettext": [_Parameter("message", "Sentence")]}
        self._class_keywords: set[str | None] = set()
        self._modules = {
            name: self._indexed(path.read_text(encoding="utf-8"))
            for name, path in self.paths.items()
        }
        self._marked = {name: [*self._sentences(name)] for name in self.paths}
        self._known = {
            form
            for marked in self._marked.values()
            for found in marked
            for form in (found.singular, found.plural)
        }

    def sentences(self, name: str) -> list[Found]:
        """Return the marked sentences of a module."""
        return self._marked[name]

    def _sentences(self, name: str) -> Iterator[Found]:
        module = self._modules[name]
        for node in module.nodes:
            if isinstance(node, ast.Call):
                yield from self._passed(module, node)
            for value in self._typed(node):
                yield from self._values(module, value)

    def unmarked(self, name: str) -> Iterator[Found]:
        """Yield the texts in words of a module that are no sentences of any."""
        every = self._modules[name].nodes
        docstrings = {node.value for node in every if isinstance(node, ast.Expr)}
        for node in every:
            match node:
                case ast.Constant(value=str(words)) if node not in docstrings:
                    shown = _TAG.sub("", words)
                    if words not in self._known and " " in shown and _WORDS.search(shown):
                        yield Found(words, line=node.lineno)

    def _typed(self, node: ast.AST) -> Iterator[ast.expr | None]:
        match node:
            case ast.ClassDef(keywords=keywords):
                yield from (one.value for one in keywords if one.arg in self._class_keywords)
            case ast.AnnAssign(annotation=type_, value=value) if _type_of(type_):
                yield value
            case ast.FunctionDef(returns=type_) if _type_of(type_):
                for part in ast.walk(node):
                    if isinstance(part, ast.Return):
                        yield part.value

    def _indexed(self, text: str) -> _Module:
        module = _Module(nodes_of(text))
        for node in module.nodes:
            match node:
                case ast.ImportFrom(module=str(source), names=names):
                    for alias in names:
                        module.imported[alias.asname or alias.name] = (source, alias.name)
                case ast.Assign(targets=[target], value=value):
                    _assign(module, target, value)
                case ast.AnnAssign(target=target, value=ast.expr() as value):
                    _assign(module, target, value)
                case ast.NamedExpr(target=target, value=value):
                    _assign(module, target, value)
                case ast.FunctionDef(name=name, args=arguments):
                    module.parameters.setdefault(name, _parameters(arguments))
                case ast.ClassDef(name=name):
                    self._index_class(module, node)
        return module

    def _index_class(self, module: _Module, node: ast.ClassDef) -> None:
        fields = [
            _Parameter(part.target.id, _type_of(part.annotation))
            for part in node.body
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        ]
        for part in node.body:
            if isinstance(part, ast.FunctionDef):
                taken = _parameters(part.args)[1:]
                if part.name == "__init__":
                    fields = taken
                elif part.name == "__init_subclass__":
                    self._class_keywords |= {one.name for one in taken if one.type}
                elif any(one.type for one in taken):
                    self._methods[part.name] = taken
        module.parameters[node.name] = fields

    def _passed(self, module: _Module, call: ast.Call) -> Iterator[Found]:
        taken: dict[str, ast.expr] = {}
        for parameter, argument in self._arguments(module, call):
            if parameter.type == "Plural":
                one = self._values(module, taken.popitem()[1])
                for found, many in zip(one, self._values(module, argument), strict=False):
                    yield replace(found, plural=many.singular)
            elif parameter.type:
                taken[parameter.name] = argument
        for name, argument in taken.items():
            for found in self._values(module, argument):
                function = ast.unparse(call.func).rpartition(".")[2]
                yield replace(found, taker=f"{function}.{name}")

    def _arguments(self, module: _Module, call: ast.Call) -> Iterator[tuple[_Parameter, ast.expr]]:
        """Yield the arguments of a call, in the order of the parameters that they are for."""
        named = {keyword.arg: keyword.value for keyword in call.keywords}
        for place, parameter in enumerate(self._parameters_of(module, call.func)):
            if parameter.name in named:
                yield parameter, named[parameter.name]
            elif place < len(call.args):
                yield parameter, call.args[place]

    def _parameters_of(self, module: _Module, function: ast.expr) -> list[_Parameter]:
        if imported := self._imported(module, function):
            return self._parameters_of(*imported)
        match function:
            case ast.Name(id=name):
                return module.parameters.get(name, [])
            case ast.Attribute(attr=name):
                return self._methods.get(name, [])
            case ast.Subscript(value=generic):  # ``ListPage[User](...)``
                return self._parameters_of(module, generic)
        return []

    def _imported(self, module: _Module, node: ast.expr) -> tuple[_Module, ast.Name] | None:
        """Return where ``page`` or ``page_layout.page`` is from; ``None`` if it isn't imported."""
        match node:
            case ast.Name(id=name) if name not in module.parameters:
                source, original = module.imported.get(name, ("", ""))
            case ast.Attribute(value=ast.Name(id=owner), attr=original):
                source = ".".join(module.imported.get(owner, ()))
            case _:
                return None
        return (self._modules[source], ast.Name(original)) if source in self._modules else None

    def _values(self, module: _Module, node: ast.expr | None) -> Iterator[Found]:
        """Yield the texts that an expression can be, as far as they are written in the code."""
        match node:
            case ast.Constant(value=str(words)) if words and not words.startswith(_COMMAND):
                yield Found(words, line=node.lineno)
            case ast.Name(id=name) if name in module.assigned:
                values = module.assigned.pop(name)  # while they are followed
                yield from self._values(module, ast.Tuple(values))
                module.assigned[name] = values
            case ast.Name() | ast.Attribute() if imported := self._imported(module, node):
                yield from self._values(*imported)
            case ast.expr():
                for part in _parts(node):
                    yield from self._values(module, part)


def _parts(node: ast.expr) -> list[ast.expr]:
    """Return the expressions whose values ``node`` can have, or holds."""
    match node:
        case ast.Call(func=ast.Name(id="Markup"), args=[value]):
            return [value]
        case ast.Subscript(value=value) | ast.Call(func=ast.Attribute(attr="get", value=value)):
            return [value]
        case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, right=other):
            return [one, other]
        case ast.BoolOp(values=values) | ast.Tuple(elts=values) | ast.Dict(values=values):
            return values
    return []


def _assign(module: _Module, target: ast.expr, value: ast.expr) -> None:
    match target, value:
        case ast.Name(id=name), _:
            module.assigned[name].append(value)
        case ast.Tuple(elts=names), ast.Tuple(elts=values):
            for one, its in zip(names, values, strict=True):
                _assign(module, one, its)
        case ast.Tuple(), ast.IfExp(body=one, orelse=other):
            _assign(module, target, one)
            _assign(module, target, other)


def _parameters(arguments: ast.arguments) -> list[_Parameter]:
    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    return [_Parameter(one.arg, _type_of(one.annotation)) for one in every]


def _type_of(annotation: ast.expr | None) -> str:
    """Return which of ``_TYPES`` an annotation mentions."""
    words = ast.unparse(annotation) if annotation else ""
    return next((one for one in _TYPES if one in words), "")


def template_sentences(path: Path) -> Iterator[Found]:
    """Yield the marked sentences of a template."""
    found = extract_from_file(
        "jinja2", path, keywords=_TEMPLATE_KEYWORDS, options=_TEMPLATE_OPTIONS
    )
    for line, message, _comments, _context in found:
        if isinstance(message, tuple):
            yield Found(message[0], message[1] or "", line)
        elif message:
            yield Found(message, line=line)


def unmarked_in_template(path: Path) -> Iterator[Found]:
    """Yield what a template shows in words without looking it up."""
    environment = Environment(autoescape=True, extensions=["jinja2.ext.i18n"])
    tree = environment.parse(path.read_text(encoding="utf-8"))
    marked = {
        id(part)
        for call in tree.find_all(nodes.Call)
        if isinstance(call.node, nodes.Name) and call.node.name in _TEMPLATE_KEYWORDS
        for part in (call, *call.find_all(nodes.Node))
    }
    whole = "".join(node.data for node in tree.find_all(nodes.TemplateData))
    shown = [*_READ.findall(whole), _TAG.sub(" ", whole)]
    for words in shown:
        for found in _WORDS.findall(words):
            yield Found(found)
    for constant in tree.find_all(nodes.Const):
        value = constant.value
        if id(constant) not in marked and isinstance(value, str) and _SENTENCE.match(value):
            yield Found(value, line=constant.lineno)
