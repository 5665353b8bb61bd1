"""Every fenced block is run, checked, taken from a file that a test runs, or listed."""

import io
import json
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import yaml
from dotenv import dotenv_values
from graphql import parse, validate

from app.composition.settings import Settings
from app.graphql.schema import schema
from docs.parts import with_files
from tests.docs.blocks import Block, all_blocks, blocks_of, count_fences, pages, read_blocks
from tests.docs.reader import json_texts
from tests.house.sources import ROOT, project_files

_NOT_RUN = Path(__file__).with_name("not_run.txt")
_PROGRAMS = {".py", ".js", ".mjs", ".ts"}
_CHECKED = {"sh", "graphql", "json", "yaml", "dotenv", "text"}
"""Languages that are typed into pages: ``test_pages`` runs ``sh``, ``text`` is sample output."""


def _of(language: str) -> list[Block]:
    return [block for block in all_blocks() if block.language == language and not block.not_run]


def _from_files() -> Iterator[tuple[Block, str]]:
    """Yield the blocks that are taken from files, with the path of the file."""
    for block in all_blocks():
        if block.file:
            yield block, block.file.partition(":")[0]


def test_every_block_has_a_language_and_is_found() -> None:
    assert [block.place for block in all_blocks() if not block.language] == []
    for page in pages():
        # A block that is indented where Markdown doesn't expect one would escape these tests.
        assert len(blocks_of(page)) == count_fences(ROOT / page), page


def test_blocks_are_as_their_files_have_them() -> None:
    """`make docs` brings them up to date."""
    for page in pages():
        text = (ROOT / page).read_text()
        assert with_files(text) == text, page


def test_code_of_programs_is_from_files() -> None:
    included = {block for block, _ in _from_files()}
    typed = [
        f"{block.place} {block.language}"
        for block in all_blocks()
        if block.language not in _CHECKED
        and block not in included
        and not block.not_run
        and not block.run_by
    ]
    assert typed == []


def test_files_of_blocks_are_run_by_tests() -> None:
    programs = {
        path: path.read_text()
        for path in project_files()
        if path.is_relative_to(ROOT / "tests") and path.suffix in _PROGRAMS
    }
    unused = [
        f"{block.place}: {path}"
        for block, path in _from_files()
        if not any(
            Path(path).stem in text for other, text in programs.items() if other != ROOT / path
        )
    ]
    assert unused == []


def test_blocks_with_a_test_of_their_own_are_read_by_it() -> None:
    """A test takes the block from the page, as `<!-- run by: FILE -->` says."""
    run = [(block.page, block.run_by) for block in all_blocks() if block.run_by]
    assert [file for page, file in run if page not in (ROOT / file).read_text()] == []


def test_graphql_is_valid() -> None:
    problems = [
        f"{block.place}: {problem}"
        for block in _of("graphql")
        for problem in validate(schema.graphql_schema, parse(block.text))
    ]
    assert problems == []


def test_json_can_be_read() -> None:
    unread = [block.place for block in _of("json") if not _is_json(block.text)]
    assert unread == []


def test_yaml_can_be_read() -> None:
    for block in _of("yaml"):
        list(yaml.safe_load_all(block.text))


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
