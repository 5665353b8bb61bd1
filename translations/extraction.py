"""Find the sentences of Python modules and templates, and those that were left unmarked."""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from babel.messages.extract import extract_from_file
from jinja2 import Environment, nodes

MARKS = ("text", "html_text", "lazy_text", "translatable", "forms", "gettext", "say", "N_")
"""Functions of Python whose first argument is a sentence and whose second is its plural."""

_LOOKED_UP = (*MARKS, "Problem", "RowCount", "Entry")
"""Calls whose sentences are in the catalogues."""

_TEMPLATE_OPTIONS = {"trimmed": "true"}
_TEMPLATE_KEYWORDS = {"_": None, "gettext": None, "ngettext": (1, 2), "text": None}
_RULE = re.compile(r"\A[A-Z{<].* .*[.?]\Z", re.DOTALL)
_WORDS = re.compile(r"[A-Z][a-z']+|[A-Za-z']+ [A-Za-z']+")
"""What a person would read as words, unlike a key or a class."""

_SENTENCE = re.compile(r"[A-Z][a-z]+(?:'[a-z]+)?(?: .*|\Z)")
_TAG = re.compile(r"<[^>]*>")
_READ = re.compile(r'\b(?:aria-label|title|alt|placeholder|label)="([^"]*)')
"""Attributes that are read out or shown."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of the code; ``plural`` is its form for other numbers than one."""

    singular: str
    plural: str = ""
    line: int = 0

    @property
    def key(self) -> str | tuple[str, str]:
        return (self.singular, self.plural) if self.plural else self.singular


def page_sentences(path: Path, functions: Collection[str] = ()) -> Iterator[Sentence]:
    """Yield the marked sentences of a Python module, or of some of its functions alone."""
    for part in _parts(ast.parse(path.read_text(encoding="utf-8")), functions):
        for node in ast.walk(part):
            if isinstance(node, ast.Call):
                yield from _of_call(node)


def rule_sentences(path: Path) -> Iterator[Sentence]:
    """Yield every sentence of a module of rules, and its labels that are marked.

    Its problems are shown as they are.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    counted: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for sentence in _of_call(node):
                yield sentence
                counted |= {sentence.singular, sentence.plural} if sentence.plural else set()
    for node in ast.walk(tree):
        words = "" if node in docstrings else _constant(node)
        if _RULE.match(words) and words not in counted:
            yield Sentence(words, line=getattr(node, "lineno", 0))


def listed_pages(path: Path) -> Iterator[Sentence]:
    """Yield the labels of a module's pages in the navigation and search."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Entry" and node.args:
            yield Sentence(_constant(node.args[0]), line=node.lineno)


def searched_words(path: Path) -> Iterator[Sentence]:
    """Yield the other words by which a module's pages are found."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Entry" and node.args[2:]:
            yield Sentence(_constant(node.args[2]), line=node.lineno)


def template_sentences(path: Path) -> Iterator[Sentence]:
    """Yield the marked sentences of a template."""
    found = extract_from_file(
        "jinja2", path, keywords=_TEMPLATE_KEYWORDS, options=_TEMPLATE_OPTIONS
    )
    for line, message, _comments, _context in found:
        if isinstance(message, tuple):
            yield Sentence(message[0], message[1] or "", line)
        elif message:
            yield Sentence(message, line=line)


def unmarked_in_page(path: Path) -> Iterator[Sentence]:
    """Yield texts of a Python module that read like sentences and aren't marked."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    known: set[ast.AST] = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _name_of(node) in _LOOKED_UP:
            known |= set(ast.walk(node))
    for node in ast.walk(tree):
        words = _constant(node)
        if node not in known and " " in words and _WORDS.search(words):
            yield Sentence(words, line=getattr(node, "lineno", 0))


def unmarked_in_template(path: Path) -> Iterator[Sentence]:
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
            yield Sentence(found)
    for constant in tree.find_all(nodes.Const):
        value = constant.value
        if id(constant) not in marked and isinstance(value, str) and _SENTENCE.match(value):
            yield Sentence(value, line=constant.lineno)


def _parts(tree: ast.Module, functions: Collection[str]) -> Iterator[ast.AST]:
    if not functions:
        yield tree
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name in functions:
            yield node


def _of_call(call: ast.Call) -> Iterator[Sentence]:
    for singular, plural in _problem(call):
        if _constant(singular):
            yield Sentence(_constant(singular), _constant(plural), call.lineno)
    if _name_of(call) == "RowCount":
        words = {one.arg: _constant(one.value) for one in call.keywords}
        yield Sentence(words["one"], words["many"], call.lineno)
        for name in ("none", "no_match", "some"):
            yield Sentence(words[name], line=call.lineno)
    if _name_of(call) in MARKS and call.args and _constant(call.args[0]):
        many = _constant(call.args[1]) if len(call.args) > 1 else ""
        yield Sentence(_constant(call.args[0]), many, call.lineno)


def _name_of(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _problem(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """Yield the sentence of ``Problem(code, template, plural=…)`` and its plural."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "Problem":
        plurals = (one.value for one in node.keywords if one.arg == "plural")
        yield node.args[1], next(plurals, None)


def _constant(node: ast.AST | None) -> str:
    if isinstance(node, ast.Call) and _name_of(node) == "Markup":
        node = node.args[0]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
