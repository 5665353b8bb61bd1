"""The documentation lists every metric and every alert."""

import re
from typing import Any

import yaml

from app.ports.monitoring import METRICS, Metric
from tests.house.sources import ROOT

PAGE = ROOT / "docs/operations/monitoring.md"
ALERTS_BEGIN, ALERTS_END = "<!-- alerts: begin -->\n", "<!-- alerts: end -->"
BEGIN, END = "<!-- metrics: begin -->\n", "<!-- metrics: end -->"


_SHOWN = {
    "instance": "A host",
    "pool": "",
    "purpose": "of one purpose",
    "name": "its name",
    "app": "its app",
}
"""What stands for a label's value in the page."""


def test_every_metric_is_documented() -> None:
    _, _, rest = PAGE.read_text().partition(BEGIN)
    assert rest.partition(END)[0] == table()


def table() -> str:
    """Return the table as the page has it; ``python -m tests.operations.test_monitoring_docs``."""
    head = "| metric | kind | labels | meaning |\n|---|---|---|---|\n"
    return head + "".join(f"{row(metric)}\n" for metric in METRICS)


def row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.name}` | {metric.kind.value} | {labels} | {metric.help} |"


def test_every_alert_is_documented() -> None:
    _, _, rest = PAGE.read_text().partition(ALERTS_BEGIN)
    assert rest.partition(ALERTS_END)[0] == alerts()


def alerts() -> str:
    head = "| alert | severity | meaning | first step |\n|---|---|---|---|\n"
    [group] = yaml.safe_load((ROOT / "deploy/monitoring/alerts.yaml").read_text())["groups"]
    return head + "".join(f"{alert_row(rule)}\n" for rule in group["rules"])


def alert_row(rule: dict[str, Any]) -> str:
    notes = rule["annotations"]
    meaning = notes["summary"]
    for label in re.findall(r"\{\{ \$labels\.(\w+) \}\}", meaning):
        shown = _SHOWN[label]
        meaning = re.sub(r"^\{\{ \$labels.instance \}\}", "A host", meaning)
        shown = shown.lower()
        meaning = meaning.replace(f"{{{{ $labels.{label} }}}}", shown)
    meaning = " ".join(meaning.split())
    return (
        f"| {rule['alert']} | {rule['labels']['severity']} | {meaning} | {notes['description']} |"
    )


if __name__ == "__main__":
    text = PAGE.read_text()
    for begin, content, end in ((BEGIN, table(), END), (ALERTS_BEGIN, alerts(), ALERTS_END)):
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}{content}{end}{rest.partition(end)[2]}"
    PAGE.write_text(text)
