"""Entries of the audit trail as sentences."""

import re
from pathlib import Path

import app.services
from app.console.security.audit_sentences import _DID

_ACTION = re.compile(r'Change\(\s*"([a-z_]+\.[a-z_]+)"')


def test_every_action_that_use_cases_write_down_has_words() -> None:
    folder = Path(app.services.__file__).parent
    written = {
        action for file in folder.rglob("*.py") for action in _ACTION.findall(file.read_text())
    }
    assert len(written) > 20
    assert written - set(_DID) == set()
