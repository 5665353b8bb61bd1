"""The services of ``deploy/compose.yaml``, with their commands and settings."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.servers.run import ROOT

DEPLOY = ROOT / "deploy"
SECRETS = "/run/secrets/"

_VARIABLE = re.compile(r"\$\{(\w+)[^}]*\}")


@dataclass(frozen=True, slots=True)
class Service:
    """One service: its command, its environment, and how many processes of it run."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str]
    replicas: int


def read_services(variables: Mapping[str, str], secrets: Path) -> dict[str, Service]:
    """Return the services by name, with ``variables`` filled in and secrets in ``secrets``."""
    described = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return {name: _service(name, given, variables, secrets) for name, given in described.items()}


def _service(
    name: str, given: Mapping[str, Any], variables: Mapping[str, str], secrets: Path
) -> Service:
    def here(text: str) -> str:
        filled = _VARIABLE.sub(lambda found: variables.get(found[1], ""), text)
        return filled.replace(SECRETS, f"{secrets}/")

    return Service(
        name,
        tuple(here(word) for word in given.get("command", ())),
        {key: here(value) for key, value in given.get("environment", {}).items()},
        given.get("deploy", {}).get("replicas", 1),
    )
