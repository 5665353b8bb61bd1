"""The operator's shell, in the test's own process: every command as ``cli.py`` lists them."""

import json
from typing import Any

from click.shell_completion import CompletionItem, ShellComplete
from click.testing import Result
from flask import Flask
from flask.cli import FlaskGroup, ScriptInfo

import cli
from app.composition.settings import Settings
from app.composition.wiring import make_installation
from app.ports import Ports
from app.web.installation import REMOTE_EXTENSION, RemoteAccess, install


def run(
    ports: Ports,
    *arguments: str,
    stdin: str | bytes | None = None,
    remote_access: RemoteAccess | None = None,
    **options: Any,
) -> Result:
    """``flask ARGUMENTS`` on the installation of ``ports``, with ``stdin``.

    ``remote_access`` gives access to other instances, ``options`` are fields of ``Settings``. An
    error that no command foresees fails the test.
    """
    app = _make_flask_app(ports, **options)
    if remote_access is not None:
        app.extensions[REMOTE_EXTENSION] = lambda: remote_access
    return app.test_cli_runner(catch_exceptions=False).invoke(args=arguments, input=stdin)


def run_json(ports: Ports, *arguments: str, stdin: str | None = None) -> Any:
    """What ``flask ARGUMENTS --json`` shows; fails the test unless the command is done."""
    result = run(ports, *arguments, "--json", stdin=stdin)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def completion_items(ports: Ports, line: str) -> list[CompletionItem[str]]:
    """What TAB offers for the last word of ``line``."""
    *words, incomplete = line.split(" ")
    script = {"obj": ScriptInfo(create_app=lambda: _make_flask_app(ports))}
    completer = ShellComplete(FlaskGroup(), script, "flask", "_FLASK_COMPLETE")
    return completer.get_completions(words[1:], incomplete)


def _make_flask_app(ports: Ports, **options: Any) -> Flask:
    app = Flask("app")
    cli.register(app)
    install(app, make_installation(ports, Settings(**options)))
    return app
