"""What every command does alike: help, suggestions, forms of output, exit codes."""

import json
import shlex
import signal
from contextlib import suppress
from dataclasses import replace

import click
import pytest

import cli
from app.commands.terminal.command import Command, Group
from app.commands.terminal.exit_codes import Exit, ended_by_signals, failure_of
from app.commands.terminal.options import FilePath
from app.composition.settings import Settings
from app.composition.wiring import connect
from app.domain.values.errors import PermissionDenied, Problem, Refused, TokenFault, TokenRejected
from app.domain.values.installation import (
    VERSION,
    KeyUnreadable,
    Misconfigured,
    SchemaBehind,
    Unreachable,
)
from app.ports import Ports
from app.ports.throttle import ThrottleUnavailable
from docs.commands import entries
from tests.commands.shell import run, run_json
from tests.fixtures.cases import cases
from tests.house.phrases import matches, read_phrases


def _arguments(line: str) -> list[str]:
    plain = line.replace('"$(', " ").replace(')"', " ").replace("$(", " ").replace(")", " ")
    words = shlex.split(plain)
    arguments = words[words.index("flask") + 1 :]
    for redirection in ("<", ">"):
        if redirection in arguments:
            arguments = arguments[: arguments.index(redirection)]
    return arguments


PHRASES = read_phrases()
COMMANDS = {" ".join(entry.path): entry.command for entry in entries()}


def test_help_leads_with_what_it_is_for_and_examples(ports: Ports) -> None:
    wrong = [
        f"{path} {flag}"
        for path, command in COMMANDS.items()
        for flag in ("-h", "--help")
        if not _leads(run(ports, *path.split(), flag).stdout, path, command)
    ]
    assert wrong == []


def _leads(shown: str, path: str, command: click.Command) -> bool:
    """Whether help begins with the usage, and has its examples above its options."""
    examples, options = shown.find("Examples:"), shown.find("Options:")
    in_order = -1 < examples < options if _examples(command) else True
    return shown.startswith(f"Usage: flask {path}") and in_order


def test_every_command_says_its_version(ports: Ports) -> None:
    wrong = [
        f"{path} {flag}"
        for path in COMMANDS
        for flag in ("-V", "--version")
        if run(ports, *path.split(), flag).stdout != f"latchkey {VERSION}\n"
    ]
    assert wrong == []


def test_every_command_has_an_example() -> None:
    assert [path for path, command in COMMANDS.items() if not _examples(command)] == []


def _examples(command: click.Command) -> list[str]:
    assert isinstance(command, Command | Group), command.name
    return [line for line, _ in command.examples]


def test_empty_text_is_no_path_of_any_command(ports: Ports) -> None:
    """Click takes it for the current folder."""
    types = {param.type for command in COMMANDS.values() for param in command.params}
    assert {type(kind) for kind in types if isinstance(kind, click.Path)} == {FilePath}
    refused = run(ports, "export", "")
    assert refused.exit_code == Exit.USAGE
    assert "must be the path of a file, got an empty text" in refused.stderr


def test_every_prompt_can_be_disabled() -> None:
    flags = {
        path: {flag for param in command.params for flag in param.opts}
        for path, command in COMMANDS.items()
        if path != "demo"
    }
    prompting = {"--yes", "--password-stdin", "--token-stdin"}
    found = [path for path, all_ in flags.items() if prompting & all_ and "--no-input" not in all_]
    assert found == []


def test_every_example_is_understood() -> None:
    wrong = {
        line: fault
        for command in COMMANDS.values()
        for line in _examples(command)
        if (fault := _misunderstood(line))
    }
    assert wrong == {}


def _misunderstood(line: str) -> str:
    """Return what is wrong with an example; empty if the command takes it."""
    arguments = _arguments(line)
    command: click.Command = cli.Commands()
    context = click.Context(command, info_name="flask")
    while isinstance(command, click.Group):
        name = arguments.pop(0)
        found = command.get_command(context, name)
        if found is None:
            return f"no command {name}"
        command = found
    try:
        command.make_context(command.name, arguments, parent=context)
    except click.ClickException as error:
        return error.format_message()
    return ""


def test_every_group_has_one_line_in_one_section_of_the_help() -> None:
    summaries = [line for section in cli.SECTIONS.values() for line in section.items()]
    assert [name for name, _ in summaries] == list(cli.COMMANDS)
    width = max(map(len, cli.COMMANDS))
    for _, summary in summaries:
        assert summary.endswith(".")
        assert len(summary) <= 78 - width - 4


def test_every_group_and_command_says_in_a_sentence_what_it_does() -> None:
    for command in COMMANDS.values():
        assert command.get_short_help_str(100).endswith(".")


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [(("usr",), "'user'"), (("user", "lst"), "'list'"), (("app", "tokn"), "'token'")],
)
def test_typo_gets_a_suggestion(ports: Ports, mistyped: tuple[str, ...], meant: str) -> None:
    failed = run(ports, *mistyped)
    assert failed.exit_code == 2
    assert f"Did you mean {meant}?" in failed.stderr


@cases(
    "arguments",
    [
        ("user", "create", "--json"),
        ("user", "lst", "--json"),
        ("user", "create", "a@example.com", "--staf", "--json"),
        ("user", "--bogus", "--json"),
        ("user", "list", "--json", "--short"),
        ("shop", "set", "--json", "nothing", "true"),
    ],
)
def test_usage_error_is_json_too_where_json_was_asked_for(
    ports: Ports, arguments: tuple[str, ...]
) -> None:
    failed = run(ports, *arguments)
    assert failed.exit_code == 2
    [error] = json.loads(failed.stdout)["errors"]
    assert error["code"] == "USAGE"
    assert error["message"] in failed.stderr


def test_usage_errors_and_help_have_no_listed_phrase(ports: Ports) -> None:
    found: dict[str, list[object]] = {}
    for path in COMMANDS:
        mistyped = run(ports, *path.split(), "--bogus")
        texts = (mistyped.stderr, run(ports, *path.split(), "--help").stdout)
        found[path] = [phrase for text in texts for phrase in matches(PHRASES, text)]
        if mistyped.exit_code != Exit.USAGE or "Error: " not in mistyped.stderr:
            found[path].append(mistyped.stderr)
    assert {path: faults for path, faults in found.items() if faults} == {}


@cases(
    ("error", "code"),
    [
        (Refused(Problem("X", "no")), Exit.REFUSED),
        (PermissionDenied("MANAGE_APPS"), Exit.DENIED),
        (TokenRejected(TokenFault.EXPIRED), Exit.DENIED),
        (Unreachable("The database", "refused"), Exit.UNREACHABLE),
        (ThrottleUnavailable("Redis", "refused"), Exit.UNREACHABLE),
        (Misconfigured(("A: wrong", "B: wrong")), Exit.FAILED),
        (SchemaBehind(), Exit.FAILED),
        (KeyUnreadable("kid"), Exit.FAILED),
    ],
)
def test_every_kind_of_failure_has_its_exit_code(error: Exception, code: Exit) -> None:
    failure = failure_of(error)
    assert failure is not None
    assert failure.exit is code
    assert all(trouble.code and trouble.message for trouble in failure.errors)


def test_codes_are_those_that_scripts_rely_on() -> None:
    assert {code.name: code.value for code in Exit} == {
        "DONE": 0,
        "FAILED": 1,
        "USAGE": 2,
        "REFUSED": 3,
        "DENIED": 4,
        "UNREACHABLE": 5,
    }


def test_unexpected_error_is_raised_as_it_is() -> None:
    assert failure_of(KeyError("x")) is None


def test_database_that_does_not_answer_ends_with_5_and_json(ports: Ports) -> None:
    lost = connect(Settings(database_url="postgresql://nobody:geheim@127.0.0.1:1/nowhere"))
    failed = run(lost, "user", "list", "--json")
    assert failed.exit_code == 5
    [error] = json.loads(failed.stdout)["errors"]
    assert error["code"] == "UNREACHABLE"
    assert "geheim" not in failed.output


def test_database_without_tables_says_what_to_run(ports: Ports, empty_sqlite_url: str) -> None:
    bare = replace(ports, database=connect(Settings(database_url=empty_sqlite_url)).database)
    failed = run(bare, "user", "list")
    assert (failed.exit_code, failed.stdout) == (1, "")
    assert "Run `flask db upgrade`." in failed.stderr


def test_what_is_shown_of_one_thing_is_tabs_in_a_pipe_and_an_object_in_json(ports: Ports) -> None:
    lines = run(ports, "group", "create", "Support").stdout.splitlines()
    assert lines == ["ID\t1", "Name\tSupport", "Members\t0", "Permissions\t"]
    assert run_json(ports, "group", "create", "Editors")["id"] == 2


NEEDS_NO_DATABASE = ("completion", "login", "webhook verify", "webhook events")
GOES_ELSEWHERE_FIRST = ("app install", "oidc discover")


@cases(
    "line",
    [
        line
        for path, command in COMMANDS.items()
        if isinstance(command, Command)
        and not path.startswith(NEEDS_NO_DATABASE + GOES_ELSEWHERE_FIRST)
        for line, _ in command.examples[:1]
    ],
)
def test_without_its_database_every_command_fails_in_json(line: str) -> None:
    lost = connect(Settings(database_url="postgresql://nobody:geheim@127.0.0.1:1/nowhere"))
    arguments = [word for word in _arguments(line) if word not in ("--json", "--short")]
    failed = run(lost, *arguments, "--json")
    output = json.loads(failed.stdout)
    assert failed.exit_code in set(Exit) - {Exit.DONE}, failed.output
    assert output
    assert "geheim" not in failed.output


def test_mistyped_choice_gets_a_suggestion(ports: Ports) -> None:
    assert "Did you mean name?" in run(ports, "shop", "set", "nam", "x").stderr
    assert "Did you mean audience?" in run(ports, "oidc", "set", "audince", "x").stderr
    assert "Available values: active, name" in run(ports, "oidc", "set", "zzz", "x").stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_signal_isnt_taken_for_an_error_of_what_it_interrupts(number: int, code: int) -> None:
    """It may come while a resolver runs, say, whose errors become part of an answer."""
    with pytest.raises(SystemExit) as ended, ended_by_signals(), suppress(Exception):
        signal.raise_signal(number)
    assert ended.value.code == code
