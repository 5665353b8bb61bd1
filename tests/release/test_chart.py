"""The Helm chart is made from the manifests; `make release` renders it with Helm itself."""

from pathlib import Path

import yaml

from release.chart import MANIFESTS, make_chart
from tests.house.sources import ROOT


def test_chart_has_the_manifests_with_values_for_what_differs(tmp_path: Path) -> None:
    chart = tmp_path / "latchkey"
    make_chart(ROOT / "deploy", "1.2.3", chart)
    templates = {file.name: file.read_text() for file in (chart / "templates").iterdir()}
    assert templates.keys() == {f"{name}.yaml" for name in (*MANIFESTS, "configuration")} | {
        "NOTES.txt"
    }
    for name in ("web.yaml", "worker.yaml", "migrate.yaml"):
        assert "latchkey:local" not in templates[name]
        assert "{{ .Values.image.repository }}" in templates[name]
    values = yaml.safe_load((chart / "values.yaml").read_text())
    assert values["settings"]["PUBLIC_URL"] == "https://shop.example.com"
    assert set(map(type, values["settings"].values())) == {str}
    assert yaml.safe_load((chart / "Chart.yaml").read_text())["appVersion"] == "1.2.3"
