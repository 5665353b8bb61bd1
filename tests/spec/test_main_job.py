"""The README's main section, command by command, exactly as it stands there."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.servers.run import ROOT
from tests.spec.server import Server, run_operator, running

CURL = shutil.which("curl") or ""
_SECTION = re.compile(r"^## The main job$(.*?)^## ", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TO_FILL = re.compile(r"^(\w+)=…$", re.MULTILINE)


@pytest.fixture
def demo_shop(tmp_path: Path) -> Iterator[tuple[Server, dict[str, str]]]:
    """A server as ``make run`` starts it, and the demo sign-ins that it printed."""
    url = f"sqlite:///{tmp_path / 'demo.sqlite3'}"
    assert run_operator(url, "db", "upgrade").returncode == 0
    made = json.loads(run_operator(url, "demo", "--once", "--json").stdout)
    with running(tmp_path, url) as server:
        yield server, {sign_in["name"]: sign_in["secret"] for sign_in in made}


@dataclass(slots=True)
class Reader:
    """Somebody who types what the README says, and fills in what it leaves open with ``…``."""

    folder: Path
    known: dict[str, str]

    def type_in(self, block: str) -> list[Any]:
        """Run one block in a shell; what it prints, one JSON text after the other."""
        filled = _TO_FILL.sub(lambda found: f"{found[1]}='{self.known[found[1]]}'", block)
        self._remember(filled)
        done = subprocess.run(
            ["/bin/sh", "-euc", filled],
            # Here curl finds the server of this test behind the address that the README names.
            env={**self.known, "CURL_HOME": str(self.folder), "PATH": str(Path(CURL).parent)},
            capture_output=True,
            text=True,
            check=True,
        )
        return _texts(done.stdout)

    def _remember(self, block: str) -> None:
        for line in block.splitlines():
            name, assigned, value = line.partition("=")
            if assigned and name.isupper():
                self.known[name] = value.strip("'")


def _texts(output: str) -> list[Any]:
    decoder, texts, place = json.JSONDecoder(), [], 0
    while place < len(output):
        text, place = decoder.raw_decode(output, place)
        texts.append(text)
    return texts


@pytest.mark.skipif(not CURL, reason="the README's commands need curl")
def test_commands_of_the_main_job_work_as_documented(
    demo_shop: tuple[Server, dict[str, str]], tmp_path: Path
) -> None:
    server, sign_ins = demo_shop
    port = server.url.rpartition(":")[2]
    (tmp_path / ".curlrc").write_text(f"connect-to = localhost:8000:127.0.0.1:{port}\n")
    section = _SECTION.search((ROOT / "README.md").read_text())
    assert section is not None
    choose, log_in, tokens, ask, refresh, verify = _BLOCK.findall(section[1])
    email = re.search(r"^EMAIL=(\S+)$", choose, re.MULTILINE)
    assert email is not None
    reader = Reader(tmp_path, {"PASSWORD": sign_ins[email[1]]})

    assert reader.type_in(choose) == []
    (response,) = reader.type_in(log_in)
    made = response["data"]["tokenCreate"]
    assert made["errors"] == []
    reader.known |= {"TOKEN": made["token"], "REFRESH_TOKEN": made["refreshToken"]}
    assert reader.type_in(tokens) == []
    (response,) = reader.type_in(ask)
    assert response["data"]["me"]["email"] == email[1]
    (response,) = reader.type_in(refresh)
    assert response["data"]["tokenRefresh"]["errors"] == []
    assert response["data"]["tokenRefresh"]["token"]
    verified, key_set = reader.type_in(verify)
    assert verified["data"]["tokenVerify"]["isValid"] is True
    assert verified["data"]["tokenVerify"]["payload"]["iss"] == "http://localhost:8000/graphql/"
    assert {key["alg"] for key in key_set["keys"]} == {"RS256"}
