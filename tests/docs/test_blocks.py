"""Every fenced block is run, checked, included from a file that a test runs, or listed."""

import io
import json
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest
import yaml
from dotenv import dotenv_values
from graphql import parse, validate

from app.graphql.schema import schema
from app.settings import Settings
from tests.docs.blocks import Block, all_blocks, blocks_of, count_fences, pages, read_blocks
from tests.docs.reader import json_texts
from tests.house.sources import ROOT, project_files

_NOT_RUN = Path(__file__).with_name("not_run.txt")
_INCLUDED = re.compile(r'^--8<-- "(?P<path>[^":]+)(?::(?P<section>[\w-]+))?"$')
_PROGRAMS = {".py", ".js", ".mjs", ".ts"}
_CHECKED = {"sh", "graphql", "json", "yaml", "dotenv", "text"}
"""Languages that are typed into pages: ``test_pages`` runs ``sh``, ``text`` is sample output."""


def _of(language: str) -> list[Block]:
    return [block for block in all_blocks() if block.language == language and not block.not_run]


def _included() -> Iterator[tuple[Block, str, str]]:
    for block in all_blocks():
        found = _INCLUDED.match(block.first_line)
        if found:
            yield block, found["path"], found["section"] or ""


@pytest.mark.parametrize("page", pages())
def test_every_block_has_a_language_and_is_found(page: str) -> None:
    found = blocks_of(page)
    assert [block.place for block in found if not block.language] == []
    # A block that is indented where Markdown doesn't expect one would escape these tests.
    assert len([block for block in found if block.language]) == count_fences(ROOT / page)


def test_code_of_programs_is_included_from_files() -> None:
    included = {block for block, _, _ in _included()}
    typed = [
        f"{block.place} {block.language}"
        for block in all_blocks()
        if block.language not in _CHECKED and block not in included and not block.not_run
    ]
    assert typed == []


def test_included_files_are_run_by_tests() -> None:
    programs = {
        path: path.read_text()
        for path in project_files()
        if path.is_relative_to(ROOT / "tests") and path.suffix in _PROGRAMS
    }
    unused = [
        f"{block.place}: {path}"
        for block, path, _ in _included()
        if not any(
            Path(path).stem in text for other, text in programs.items() if other != ROOT / path
        )
    ]
    assert unused == []


def test_included_sections_exist() -> None:
    missing = [
        f"{block.place}: {path}:{section}"
        for block, path, section in _included()
        if section and f"--8<-- [start:{section}]" not in (ROOT / path).read_text()
    ]
    assert missing == []


def test_graphql_is_valid() -> None:
    problems = [
        f"{block.place}: {problem}"
        for block in _of("graphql")
        for problem in validate(schema.graphql_schema, parse(block.text))
    ]
    assert problems == []


def test_json_can_be_read() -> None:
    unread = [block.place for block in _of("json") if not _is_json(_text_of(block))]
    assert unread == []


def test_yaml_can_be_read() -> None:
    for block in _of("yaml"):
        list(yaml.safe_load_all(_text_of(block)))


def _text_of(block: Block) -> str:
    found = _INCLUDED.match(block.first_line)
    return (ROOT / found["path"]).read_text() if found else block.text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    return True


def test_settings_exist() -> None:
    known = {one.name.upper() for one in fields(Settings)}
    unknown = [
        f"{block.place}: {name}"
        for block in _of("dotenv")
        for name in dotenv_values(stream=io.StringIO(block.text))
        if name not in known
    ]
    assert unknown == []


def test_blocks_that_are_not_run_are_listed() -> None:
    listed = sorted(_NOT_RUN.read_text().splitlines())
    marked = [f"{block.page} | {block.first_line}" for block in all_blocks() if block.not_run]
    assert sorted(marked) == listed


def test_comments_belong_to_the_block_below_them() -> None:
    text = (
        "<!-- not run: no Docker here -->\n```sh\nmake run\n```\n\n"
        "<!-- prints: a -->\n<!-- prints: b c -->\n```sh\necho a b c\n```\n\n"
        "<!-- not run: too far away -->\n\n```sh\ntrue\n```\n"
    )
    assert [(block.not_run, block.prints) for block in read_blocks("a.md", text)] == [
        ("no Docker here", ()),
        ("", ("a", "b c")),
        ("", ()),
    ]


def test_json_is_found_between_other_output() -> None:
    output = 'Created [x] {"a": {"b": 1}}\nID {7}\n[{"c": 2}]'
    assert list(json_texts(output)) == [{"a": {"b": 1}}, [{"c": 2}]]
