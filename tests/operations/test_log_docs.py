"""The page about logs lists every security event with its level."""

import re

from app.domain.audit import SecurityEvent
from tests.house.sources import ROOT

_ROW = re.compile(r"^\| `(\w+)` \| (info|warning) \|", re.MULTILINE)


def test_every_security_event_is_documented() -> None:
    page = (ROOT / "docs/operations/logs.md").read_text()
    levels = {event.value: "warning" if event.is_warning else "info" for event in SecurityEvent}
    assert dict(_ROW.findall(page)) == levels
