"""What a release's files must do before anyone gets them."""

import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import kubernetes_validate
import yaml
from helm_python import Chart, HelmValuesError, lint

KUBERNETES = "1.31"
PYTHONS = ("python3.11", "python3.12", "python3.13")
_WRONG_VALUES: tuple[dict[str, object], ...] = (
    {"settings": {"SECRET_KEY": "x"}},
    {"web": {"replicas": "two"}},
    {"webb": {}},
)
_PATIENCE = 180
"""Seconds that the demo shop has to fill itself and answer."""


class CheckFailed(ValueError):
    """A file of the release isn't as it must be."""


def check(files: Sequence[Path], version: str) -> Iterator[str]:
    """Check the files of ``version``; yield a sentence for each thing that is right.

    Raises ``CheckFailed``, or ``subprocess.CalledProcessError`` of a program that showed why.
    """
    by_suffix = {file.name.removeprefix(f"latchkey-{version}"): file for file in files}
    wheel, source = by_suffix["-py3-none-any.whl"], by_suffix[".tar.gz"]
    _run([sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(source)])
    yield "twine takes wheel and source distribution"
    _build_from_source(source, wheel)
    yield "the source distribution builds the same wheel"
    yield f"the SBOM names {_count_components(by_suffix['.cdx.json'])} packages"
    chart = next(file for file in files if file.name.startswith("latchkey-chart"))
    yield f"the chart's {check_chart(chart)} objects are valid for Kubernetes {KUBERNETES}"
    for python in PYTHONS:
        if _is_there(python):
            yield _install(python, wheel, by_suffix["-requirements.txt"], version)
        else:
            yield f"{python}: not on this machine, so the wheel wasn't tried with it"


def _is_there(python: str) -> bool:
    """Whether there is that Python, not only a name for one that isn't installed."""
    words = [python, "-c", ""]
    return bool(shutil.which(python)) and not subprocess.call(
        words, stderr=subprocess.DEVNULL, timeout=60
    )


def check_chart(chart: Path) -> int:
    """Render ``chart`` as Helm does and validate its objects; return how many there are."""
    report = lint(str(chart), strict=True)
    worst = [message for message in report["messages"] if message["severity"] > 1]
    if worst or report["errors"]:
        raise CheckFailed(f"helm lint: {worst or report['errors']}")
    count = 0
    with Chart.load(str(chart)) as loaded:
        loaded.validate_schema({})
        for wrong in _WRONG_VALUES:
            _must_refuse(loaded, wrong)
        for values in ({}, {"ingress": {"enabled": False}}):
            rendered = loaded.render(values, name="shop", namespace="shops", revision=2)
            for name, text in rendered.items():
                for document in yaml.safe_load_all("" if name.endswith(".txt") else text):
                    if document:
                        kubernetes_validate.validate(document, KUBERNETES, strict=True)
                        count += not values
    return count


def _must_refuse(chart: Any, values: dict[str, object]) -> None:
    try:
        chart.validate_schema(values)
    except HelmValuesError:
        return
    raise CheckFailed(f"The chart's schema takes {values}")


def _build_from_source(source: Path, wheel: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(source) as archive:
            archive.extractall(folder, filter="data")
        code = next(Path(folder).iterdir())
        seconds = str(int((code / "PKG-INFO").stat().st_mtime))
        environment = {**os.environ, "SOURCE_DATE_EPOCH": seconds}
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        _run(command, cwd=code, env=environment)
        if (Path(folder) / wheel.name).read_bytes() != wheel.read_bytes():
            raise CheckFailed("The source distribution builds another wheel.")


def _count_components(sbom: Path) -> int:
    components = json.loads(sbom.read_text())["components"]
    nameless = [entry["name"] for entry in components if not entry.get("purl")]
    if nameless or not components:
        raise CheckFailed(f"The SBOM has no package URL for {nameless or 'anything'}")
    return len(components)


def _install(python: str, wheel: Path, locked: Path, version: str) -> str:
    """Install ``wheel`` into an empty environment and serve the demo shop from an empty folder."""
    with tempfile.TemporaryDirectory() as folder:
        environment, empty = Path(folder) / "environment", Path(folder) / "empty"
        empty.mkdir()
        _run([python, "-m", "venv", str(environment)])
        pip = [str(environment / "bin/pip"), "--disable-pip-version-check", "install", "--quiet"]
        _run([*pip, "--require-hashes", "-r", str(locked)])
        _run([*pip, "--no-deps", str(wheel)])
        _run([str(environment / "bin/pip"), "--disable-pip-version-check", "check"])
        command = str(environment / "bin/latchkey")
        shown = _run([command, "--version"], cwd=empty)
        if version not in shown:
            raise CheckFailed(f"latchkey --version says {shown!r}")
        return f"{python}: installed; the demo shop answers after {_serve_demo(command, empty)} s"


def _serve_demo(command: str, folder: Path) -> int:
    """Start ``latchkey demo`` in ``folder`` and wait for its API; return how long that took."""
    port = "8931"
    started = time.monotonic()
    with subprocess.Popen([command, "demo", "--port", port], cwd=folder, env=_clean()) as shop:
        try:
            while time.monotonic() - started < _PATIENCE and shop.poll() is None:
                if _answers(f"http://127.0.0.1:{port}/graphql/"):
                    return round(time.monotonic() - started)
                time.sleep(0.5)
            raise CheckFailed(f"latchkey demo doesn't answer; exit code {shop.poll()}")
        finally:
            shop.terminate()
            shop.wait(timeout=60)


def _answers(url: str) -> bool:
    query = json.dumps({"query": "{ shop { name } }"}).encode()
    request = urllib.request.Request(url, query, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return "errors" not in json.load(response)
    except OSError:
        return False


def _clean() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "LANG": "C.UTF-8"}


def _run(command: list[str], **options: Any) -> str:
    done: subprocess.CompletedProcess[str] = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, timeout=900, **options
    )
    return done.stdout
