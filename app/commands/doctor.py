"""``flask doctor``: what is wrong with this installation, and what to do about it."""

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

from app.commands.terminal.command import standalone
from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.output import Column, as_called, output
from app.domain.values.installation import CheckResult, CheckState, Misconfigured
from app.services.operations.environment_checks import (
    ProxySettings,
    check_dashboard,
    check_proxies,
)
from app.services.operations.health_checks import run_checks
from app.web.installation import installation, operator

_COLUMNS: tuple[Column[CheckResult], ...] = (
    Column("subject", "Checked", lambda check: check.subject, short=True),
    Column("state", "State", lambda check: check.state.value, short=True),
    Column("message", "Found", lambda check: as_called(check.message)),
    Column("remedy", "Remedy", lambda check: as_called(check.remedy)),
)


@standalone(
    "doctor",
    examples=[("flask doctor", "check everything"), ("flask doctor --json", "for a monitor")],
)
def command() -> None:
    """Check everything the installation depends on and suggest fixes.

    Checks settings, database, signing keys, Redis, clock, background worker, mail, identity
    providers, sign-in of staff and proxies. Exits with 1 if a check fails; warnings don't count.
    """
    show_checks(tuple(_checks()))


def show_checks(checks: Sequence[CheckResult]) -> None:
    """Print the results; exit with 1 if a check failed."""
    output().rows(checks, _COLUMNS, empty="")
    if any(check.state is CheckState.FAILED for check in checks):
        click.get_current_context().exit(Exit.FAILED)


def _checks() -> Iterator[CheckResult]:
    try:
        ports = installation().ports
    except Misconfigured as error:
        remedy = (
            "Fix it in .env or in the environment. See .env.example for a description of each "
            "setting."
        )
        for problem in error.problems:
            yield CheckResult("settings", CheckState.FAILED, problem, remedy)
        return
    kind = "development" if ports.configuration.development else "production"
    files = " and ".join(map(str, installation().settings_files))
    source = f" Read from {files}." if files else ""
    yield CheckResult("settings", CheckState.FINE, f"All settings are valid ({kind}).{source}")
    yield from _secret_files()
    yield from run_checks(*operator())
    yield from check_proxies(*operator(), _proxy_settings())
    web = installation()
    yield from check_dashboard(*operator(), web.dashboard_origin, web.allowed_graphql_origins)


def _secret_files() -> Iterator[CheckResult]:
    for file in installation().secret_files:
        if _can_be_read_by_all(file):
            message = f"Every account on this machine can read {file}."
            yield CheckResult("settings", CheckState.WARNING, message, f"chmod o-r {file}")


def _can_be_read_by_all(file: Path) -> bool:
    """Whether every account can read ``file``: its folders can be entered by all, too."""
    folders = all(folder.stat().st_mode & stat.S_IXOTH for folder in file.resolve().parents)
    return bool(folders and file.stat().st_mode & stat.S_IROTH)


def _proxy_settings() -> ProxySettings:
    web = installation()
    return ProxySettings(
        web.trusted_proxies, web.graphql_body_max, web.upload_max, web.requests_are_buffered
    )
