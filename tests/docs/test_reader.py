"""A page whose commands don't work, or don't print what it says, fails."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import Block
from tests.docs.reader import Reader, shell


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    sign_ins = {"staff@example.com": "staff's", "admin@example.com": "admin's"}
    with shell(tmp_path, {"PATH": os.defpath}) as session:
        yield Reader(session, "localhost:4711", sign_ins)


def _block(text: str, *prints: str) -> Block:
    return Block("page.md", 1, "sh", text, prints=prints)


def test_session_keeps_variables_and_folder(reader: Reader) -> None:
    reader.type_in(_block("NAME=a\nmkdir inner\ncd inner\n"))
    reader.type_in(
        _block('echo "$NAME ${PWD##*/} http://localhost:8000/"', "a inner http://local")
    )
    assert "localhost:4711" in (reader.shell.folder / ".block-2").read_text()


def test_failing_command_fails_the_page(reader: Reader) -> None:
    with pytest.raises(AssertionError, match="failed"):
        reader.type_in(_block("false\ntrue\n"))


@pytest.mark.parametrize("key", ["errors", "accountErrors"])
def test_printed_error_fails_the_page(reader: Reader, key: str) -> None:
    error = f"""echo '{{"data": {{"login": {{"{key}": [{{"code": "NOT_FOUND"}}]}}}}}}'"""
    with pytest.raises(AssertionError, match="NOT_FOUND"):
        reader.type_in(_block(error))
    reader.type_in(_block(error, "NOT_FOUND"))


def test_expected_output_must_be_printed(reader: Reader) -> None:
    with pytest.raises(AssertionError, match="doesn't print 'b'"):
        reader.type_in(_block("echo a", "b"))


def test_open_values_are_filled_in(reader: Reader) -> None:
    printed = '{"data": {"made": {"token": "t1", "refreshToken": "r1", "app": {"id": "i1"}}}}'
    reader.type_in(_block(f"echo '{printed}'"))
    reader.type_in(_block("EMAIL=staff@example.com\nPASSWORD=…\nADMIN_PASSWORD=…\n"))
    reader.type_in(_block("TOKEN=…\nREFRESH_TOKEN=…\nAPP_ID=…\n"))
    typed = [(reader.shell.folder / f".block-{number}").read_text() for number in (2, 3)]
    assert typed == [
        "EMAIL=staff@example.com\nPASSWORD='staff'\"'\"'s'\nADMIN_PASSWORD='admin'\"'\"'s'\n",
        "TOKEN=t1\nREFRESH_TOKEN=r1\nAPP_ID=i1\n",
    ]


def test_background_job_ends_with_the_page(tmp_path: Path) -> None:
    with shell(tmp_path, {"PATH": os.defpath}) as session:
        Reader(session, "", {}).type_in(_block("sleep 600 &\necho $! > pid\n"))
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
