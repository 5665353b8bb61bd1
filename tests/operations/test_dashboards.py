"""The dashboard and the alert rules use metrics, labels and label values that exist."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.domain.sign_in.sign_in_log import SignInMethod, SignInReason
from app.ports.monitoring import METRICS, Metric, MetricKind
from app.ports.process_cache import CallPurpose
from tests.house.sources import ROOT

FOLDER = ROOT / "deploy/monitoring"
BY_NAME = {metric.name: metric for metric in METRICS}
SUFFIXES = ("_bucket", "_sum", "_count")
ADDED = {"instance", "job", "le"}
"""Labels that Prometheus adds, and a histogram's own."""

VALUES = {
    "result": {reason.value for reason in SignInReason}
    | {"SUCCESS", "FAILED", "delivered", "http_error", "no_response", "fault", "ok", "refused"},
    "method": {method.value for method in SignInMethod} | {"GET", "POST"},
    "purpose": {purpose.value for purpose in CallPurpose},
    "route": {"/graphql/"},
    "lane": {"sign-ins", "passwords", "app tokens"},
    "pool": {"reading", "writing"},
    "state": {"due", "retrying"},
}
"""Values that rules may ask for."""

_SERIES = re.compile(r"\b(latchkey_\w+|up)(?:\{([^}]*)\})?")
_MATCHER = re.compile(r'(\w+)(=~|!~|!=|=)"([^"]*)"')
_GROUPED = re.compile(r"\bby \(([^)]*)\)")


def expressions() -> Iterator[tuple[str, str]]:
    for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    for panel in dashboard()["panels"]:
        for target in panel.get("targets", ()):
            yield panel["title"], target["expr"]


def dashboard() -> Any:
    return json.loads((FOLDER / "grafana-dashboard.json").read_text())


def metric_of(series: str) -> Metric | None:
    for suffix in SUFFIXES:
        metric = BY_NAME.get(series.removesuffix(suffix))
        if series.endswith(suffix) and metric and metric.kind is MetricKind.HISTOGRAM:
            return metric
    found = BY_NAME.get(series)
    return None if found is None or found.kind is MetricKind.HISTOGRAM else found


@pytest.mark.parametrize(("title", "expression"), list(expressions()))
def test_expression_uses_what_exists(title: str, expression: str) -> None:
    known = set(ADDED)
    assert expression.count("(") == expression.count(")")
    for name, matchers in _SERIES.findall(expression):
        metric = metric_of(name)
        assert metric is not None or name == "up", name
        labels = set(metric.labels) if metric is not None else set()
        known |= labels
        for label, operator, value in _MATCHER.findall(matchers):
            assert label in labels | ADDED, label
            if label in VALUES and operator in ("=", "!="):
                assert value in VALUES[label], value
            if label in VALUES and operator in ("=~", "!~"):
                assert set(value.split("|")) <= VALUES[label], value
    for grouped in _GROUPED.findall(expression):
        assert {label.strip() for label in grouped.split(",")} <= known


def test_counters_are_read_as_rates() -> None:
    for title, expression in expressions():
        counters = re.findall(r"latchkey_\w+(?:_total|_bucket)\b", expression)
        assert len(counters) == expression.count("rate("), title


def test_dashboard_shows_every_metric() -> None:
    shown = " ".join(expression for _, expression in expressions())
    missing = {metric.name for metric in METRICS if metric.name not in shown}
    assert missing == set()


def test_dashboard_panels_have_their_own_place() -> None:
    panels = dashboard()["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        place = panel["gridPos"]
        cells = {
            (place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells


@pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool (Debian: prometheus) isn't installed"
)
def test_promtool_accepts_the_rules_and_their_cases(tmp_path: Path) -> None:
    promtool = shutil.which("promtool") or ""
    for words in (("check", "rules", "alerts.yaml"), ("test", "rules", "alerts_test.yaml")):
        subprocess.run([promtool, *words], cwd=FOLDER, check=True, capture_output=True)
    for title, expression in expressions():
        plain = expression.replace("$__rate_interval", "5m").replace("$instance", ".*")
        rules = {"groups": [{"name": "one", "rules": [{"record": "checked", "expr": plain}]}]}
        file = tmp_path / "rules.yaml"
        file.write_text(yaml.safe_dump(rules))
        checked = subprocess.run(
            [promtool, "check", "rules", str(file)], capture_output=True, text=True, check=False
        )
        assert checked.returncode == 0, (title, checked.stderr)
