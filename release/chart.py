"""The Helm chart: the manifests of ``deploy/kubernetes`` with values in place of what differs.

So a manifest is changed in one place. What is written by hand for the chart alone (its values,
their schema, what is shown after an installation) is in ``deploy/helm``.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from dotenv import dotenv_values

MANIFESTS = ("migrate", "web", "worker", "disruption", "ingress")
_FULL_NAME = "{{ .Release.Name }}"
_IMAGE = "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
_SETTINGS = '{{ include (print $.Template.BasePath "/configuration.yaml") . | sha256sum }}'
_OPEN, _CLOSE = "<<", ">>"
"""Around an expression that stands without quotes in the template."""


def make_chart(deploy: Path, version: str, chart: Path) -> None:
    """Write the chart of ``version`` into the new folder ``chart``, from the folder ``deploy``.

    Raises ``ValueError`` if a manifest has nothing that it should have a value for.
    """
    (chart / "templates").mkdir(parents=True)
    documents = {name: _read(deploy / "kubernetes" / f"{name}.yaml") for name in MANIFESTS}
    documents["configuration"] = [_CONFIGURATION]
    settings = dict(dotenv_values(deploy / "kubernetes/configuration.env"))
    values = (deploy / "helm/values.yaml").read_text()
    (chart / "values.yaml").write_text(
        values + yaml.safe_dump({"settings": settings}, sort_keys=False)
    )
    shutil.copy(deploy / "helm/values.schema.json", chart)
    shutil.copy(deploy / "helm/NOTES.txt", chart / "templates")
    description = {
        "apiVersion": "v2",
        "name": "latchkey",
        "description": "Sign-in, tokens, apps and webhooks for a commerce platform, over GraphQL",
        "type": "application",
        "version": version,
        "appVersion": version,
        "kubeVersion": ">=1.27.0-0",
    }
    (chart / "Chart.yaml").write_text(yaml.safe_dump(description, sort_keys=False))
    for name, found in documents.items():
        text = "---\n".join(_template(document) for document in found)
        if name == "ingress":
            text = "{{- if .Values.ingress.enabled }}\n" + text + "{{- end }}\n"
        (chart / "templates" / f"{name}.yaml").write_text(text)


def _template(document: Any) -> str:
    changed = _with_names(document)
    change = _CHANGES.get((document["kind"], document["metadata"].get("labels", {}).get("part")))
    if change:
        change(changed)
    text = yaml.safe_dump(changed, sort_keys=False, width=1000)
    return text.replace(_OPEN, "").replace(_CLOSE, "")


def _with_names(node: Any, key: str = "") -> Any:
    """Return ``node`` with the release's name and image in place of the manifests' own."""
    if isinstance(node, dict):
        return {name: _with_names(value, name) for name, value in node.items()}
    if isinstance(node, list):
        return [_with_names(value, key) for value in node]
    if key == "image" and str(node).startswith("latchkey:"):
        return _IMAGE
    if key == "secretName" and node == "latchkey":
        return "{{ .Values.secretName }}"
    if key in ("name", "app") and str(node).partition("-")[0] == "latchkey":
        return _FULL_NAME + str(node).removeprefix("latchkey")
    return node


def _block(path: str, indent: int) -> str:
    return f"{_OPEN}{{{{- toYaml .Values.{path} | nindent {indent} }}}}{_CLOSE}"


def _web(document: Any) -> None:
    document["spec"]["replicas"] = f"{_OPEN}{{{{ .Values.web.replicas }}}}{_CLOSE}"
    _pod(document, "web")


def _worker(document: Any) -> None:
    document["spec"]["replicas"] = f"{_OPEN}{{{{ .Values.worker.replicas }}}}{_CLOSE}"
    _pod(document, "worker")


def _migrate(document: Any) -> None:
    """A job can't be changed: each revision of the release has its own."""
    document["metadata"]["name"] += "-{{ .Release.Revision }}"


def _pod(document: Any, part: str) -> None:
    template = document["spec"]["template"]
    template["metadata"].setdefault("annotations", {})["checksum/settings"] = _SETTINGS
    template["spec"]["containers"][0]["resources"] = _block(f"{part}.resources", 12)


def _ingress(document: Any) -> None:
    spec = document["spec"]
    document["metadata"]["annotations"] = _block("ingress.annotations", 4)
    spec["ingressClassName"] = "{{ .Values.ingress.className }}"
    host = "{{ .Values.ingress.host }}"
    spec["tls"] = [{"hosts": [host], "secretName": "{{ .Values.ingress.tlsSecretName }}"}]
    spec["rules"][0]["host"] = host


_CONFIGURATION = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "latchkey"},
    "data": _block("settings", 2),
}
"""What Kustomize makes of ``configuration.env``."""

_CHANGES: dict[tuple[str, str | None], Callable[[Any], None]] = {
    ("Deployment", "web"): _web,
    ("Deployment", "worker"): _worker,
    ("Job", "migrate"): _migrate,
    ("Ingress", None): _ingress,
}


def _read(file: Path) -> list[Any]:
    return list(yaml.safe_load_all(file.read_text()))
