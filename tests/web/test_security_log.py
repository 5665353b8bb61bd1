"""The security log's lines, and what keeps a flood of failures from filling the disk."""

from pathlib import Path

import orjson
import pytest

from app.domain.audit import SecurityEvent
from app.web.logs import MAX_FAILURES_PER_SECOND, REQUEST_ID, JsonSecurityLog
from tests.fakes.clock import FakeClock


def lines(text: str) -> list[dict[str, object]]:
    return [orjson.loads(line) for line in text.splitlines()]


def test_line_is_json_without_empty_fields(tmp_path: Path, clock: FakeClock) -> None:
    file = tmp_path / "security.log"
    log = JsonSecurityLog(str(file), clock)
    token = REQUEST_ID.set("0123456789abcdef")
    log.write(SecurityEvent.LOGIN_SUCCESS, method="PASSWORD", provider="", in_console=False)
    REQUEST_ID.reset(token)
    log.close()
    assert lines(file.read_text()) == [
        {
            "timestamp": clock.now().isoformat(),
            "event": "authn_login_success",
            "level": "info",
            "logger": "latchkey.security",
            "request_id": "0123456789abcdef",
            "method": "PASSWORD",
            "in_console": False,
        }
    ]


def test_moved_file_is_created_anew(tmp_path: Path, clock: FakeClock) -> None:
    file = tmp_path / "security.log"
    log = JsonSecurityLog(str(file), clock)
    log.write(SecurityEvent.ADMIN, action="one")
    file.rename(tmp_path / "security.log.1")
    log.write(SecurityEvent.ADMIN, action="two")
    log.close()
    assert [line["action"] for line in lines(file.read_text())] == ["two"]


def test_standard_error_can_be_the_target(
    capsys: pytest.CaptureFixture[str], clock: FakeClock
) -> None:
    JsonSecurityLog("stderr", clock).write(SecurityEvent.ADMIN, action="keys.rotate")
    [line] = lines(capsys.readouterr().err)
    assert (line["event"], line["level"]) == ("authz_admin", "warning")


def test_secrets_are_blanked(tmp_path: Path, clock: FakeClock) -> None:
    file = tmp_path / "security.log"
    log = JsonSecurityLog(str(file), clock)
    log.write(SecurityEvent.ADMIN, action="eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl")
    log.close()
    assert "eyJ" not in file.read_text()


def test_flood_of_failures_is_limited_and_counted(tmp_path: Path, clock: FakeClock) -> None:
    file = tmp_path / "security.log"
    moment = [100.0]
    log = JsonSecurityLog(str(file), clock, lambda: moment[0])
    for _ in range(MAX_FAILURES_PER_SECOND + 7):
        log.write(SecurityEvent.LOGIN_FAIL, reason="UNKNOWN_EMAIL")
    log.write(SecurityEvent.LOGIN_SUCCESS, method="PASSWORD")
    moment[0] += 1
    log.write(SecurityEvent.LOGIN_FAIL, reason="UNKNOWN_EMAIL")
    log.close()
    written = lines(file.read_text())
    assert len(written) == MAX_FAILURES_PER_SECOND + 2
    assert written[-1]["suppressed"] == 7
    assert "suppressed" not in written[0]
