"""The documentation lists every metric."""

from app.ports.metrics import METRICS, Metric
from tests.house.sources import ROOT

PAGE = ROOT / "docs/operations/monitoring.md"
BEGIN, END = "<!-- metrics: begin -->\n", "<!-- metrics: end -->"


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


if __name__ == "__main__":
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{table()}{END}{rest.partition(END)[2]}")
