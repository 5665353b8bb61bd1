"""What an application compiles is kept for the next one: each test and each server makes one.

Werkzeug parses each of two hundred routes, and writes and compiles two functions for it, which
build its URLs: three quarters of the time that an application takes. They are kept while a process
and those forked from it run. Templates are kept from run to run: what is kept names the template's
text and Jinja's version, and isn't used when they have changed.
"""

from pathlib import Path

from flask import Flask
from jinja2 import FileSystemBytecodeCache
from werkzeug.routing.rules import Rule

_compile = Rule.compile
_BUILDERS = ("_build", "_build_unknown")
_COMPILED = ("_parts", "_trace", "_converters", "arguments", *_BUILDERS)
_compiled: dict[object, dict[str, object]] = {}


def keep_routes() -> None:
    """Compile a route once, whatever application has it."""
    Rule.compile = _compile_once  # type: ignore[method-assign, assignment]


def keep_templates(folder: Path) -> None:
    """Keep compiled templates in ``folder``."""
    cache = FileSystemBytecodeCache(str(folder))
    Flask.jinja_options = {**Flask.jinja_options, "bytecode_cache": cache}


def templates_folder() -> str:
    """Return where this process keeps compiled templates."""
    cache = Flask.jinja_options["bytecode_cache"]
    assert isinstance(cache, FileSystemBytecodeCache)
    return cache.directory


def _compile_once(rule: Rule) -> None:
    key = (
        *(rule.rule, str(rule.defaults), rule.subdomain, rule.host, rule.merge_slashes),
        *(rule.map.host_matching, *rule.map.converters, *rule.map.converters.values()),
    )
    if key not in _compiled:
        _compile(rule)
        _compiled[key] = {name: getattr(rule, name) for name in _COMPILED}
    for name, made in _compiled[key].items():
        setattr(rule, name, made.__func__.__get__(rule) if name in _BUILDERS else made)  # type: ignore[attr-defined]
