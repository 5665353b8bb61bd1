"""Try what ``deploy/`` describes: exits with 1 if something isn't as documented."""

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.deployment.load import CLIENT, Api, load
from benchmarks.deployment.stack import Stack, running_stack, wait_until
from tests.servers.http import Reply, http_server
from tests.servers.run import shared_directory

_ADMIN = "admin@example.com"
_PASSWORD = "a sentence that opens the shop"
_REQUESTS = 30_000
_SIGN_IN = """
mutation ($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) { token refreshToken errors { code } }
}"""
_CREATE = """
mutation { customerCreate(input: {email: "ann@example.com"}) { user { id } errors { code } } }"""


def main() -> int:
    """Run every trial and print a line for each."""
    failed = False
    with shared_directory() as run:
        started = time.monotonic()
        with running_stack(run) as stack:
            _print("everything serves", f"{time.monotonic() - started:.1f} s after the start")
            api = _sign_in(stack)
            for trial in (_answers, _delivers, _restarts, _is_healthy, _keeps_secrets):
                problem = trial(stack, api)
                failed = failed or bool(problem)
                if problem:
                    _print(trial.__name__.strip("_"), f"FAILED: {problem}")
    return int(failed)


def _sign_in(stack: Stack) -> Api:
    stack.operate("user", "create", _ADMIN, "--superuser", "--password-stdin", given=_PASSWORD)
    api = Api(stack.url, stack.authority)
    with api.session() as session:
        made = api.post(session, _SIGN_IN, email=_ADMIN, password=_PASSWORD)["tokenCreate"]
    api.token, api.refresh_token = made["token"], made["refreshToken"]
    _print("a person signs in through nginx with TLS", "yes")
    return api


def _answers(stack: Stack, api: Api) -> str:
    """Look at health, key set and console, and at what nginx says of the client."""
    expected = {
        "/healthz": 200,
        "/readyz": 200,
        "/.well-known/jwks.json": 200,
        "/console/sign-in/": 200,
        "/metrics": 404,
    }
    with api.session() as session:
        for path, status in expected.items():
            response = session.get(f"{stack.url}{path}", timeout=30)
            if response.status_code != status or "X-Request-ID" not in response.headers:
                return f"{path}: {response.status_code} {dict(response.headers)}"
    _print("health, key set and console answer", "yes; /metrics isn't there")
    [sign_in] = json.loads(stack.operate("sign-ins", "list", "--json"))
    if CLIENT not in sign_in.values():
        return f"the sign-in log has no {CLIENT}: {sign_in}"
    _print("the sign-in log has the client's IP address", CLIENT)
    return ""


def _delivers(stack: Stack, api: Api) -> str:
    """Let the worker send a webhook to a server of this machine."""
    with http_server() as receiver:
        url = receiver.answer("/hook", Reply(200))
        stack.operate("app", "create", "Trial", "--permission", "MANAGE_USERS")
        words = ("--target-url", url, "--event", "CUSTOMER_CREATED", "--secret", "none")
        stack.operate("webhook", "create", *words, "--no-input")
        started = time.monotonic()
        with api.session() as session:
            api.post(session, _CREATE)
        wait_until(lambda: bool(receiver.received))
        _print("a webhook arrived", f"{time.monotonic() - started:.2f} s after the change")
    return ""


def _restarts(stack: Stack, api: Api) -> str:
    """Restart every web process in turn until enough requests were sent."""
    stops = []
    with load(api) as figures:
        while figures.sent < _REQUESTS:
            for port in list(stack.web):
                time.sleep(2)
                stops.append(stack.stop_web(port))
                stack.start_web(port)
    _print(
        "rolling restarts under load",
        f"{len(stops)} restarts, {figures.sent:,} requests, {len(figures.faults)} failed, the "
        f"slowest took {figures.slowest:.2f} s; processes stopped within {max(stops):.1f} s",
    )
    return "; ".join(sorted(set(figures.faults))[:3])


def _is_healthy(stack: Stack, _api: Api) -> str:
    findings = json.loads(stack.operate("doctor", "--json"))
    wrong = [finding for finding in findings if finding["state"] != "fine"]
    _print("flask doctor", f"{len(findings)} checks, {len(wrong)} warnings or failures")
    return "; ".join(f"{finding['subject']}: {finding['message']}" for finding in wrong)


def _keeps_secrets(stack: Stack, _api: Api) -> str:
    """Search every log and command line for the secrets."""
    files = (stack.folder / "secrets").iterdir()
    secrets = [text for file in files if (text := file.read_text().strip())]
    logs = {file.name: file.read_text() for file in stack.folder.glob("*.log")}
    lines = {str(pid): _command_line(pid) for pid in Path("/proc").glob("[0-9]*")}
    for name, text in {**logs, **lines}.items():
        if any(secret in text for secret in [*secrets, _PASSWORD]):
            return f"a secret stands in {name}"
    _print("secrets in logs and command lines", f"none ({len(logs)} logs)")
    return ""


def _command_line(process: Path) -> str:
    try:
        return (process / "cmdline").read_text()
    except OSError:  # it has ended
        return ""


def _print(what: str, seen: str) -> None:
    sys.stdout.write(f"{what}: {seen}\n")
    sys.stdout.flush()


Trial = Callable[[Stack, Api], str]

if __name__ == "__main__":
    sys.exit(main())
