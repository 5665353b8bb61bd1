"""``python -m tests.reliability.upgrade_check``: the previous release serves during an upgrade.

Its commit, as ``release/releases.toml`` names it, is checked out beside this code and fills and
serves a shop, on SQLite and PostgreSQL. Then this code migrates the database while requests go on,
and each use of the old server is tried again. Exits with 1 when a use or a request fails. The
previous release's packages are installed into a folder of ``.venv`` the first time.
"""

import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path

import requests

from release.record import Release, releases
from tests.servers.free_ports import free_port
from tests.servers.http import HttpServer, Reply, http_server
from tests.servers.run import ROOT, server_url, shared_directory
from tests.spec.documents import CHANGE_PASSWORD, LOGIN, ME, REFRESH

PASSWORD = "Correct-horse-battery-9"
STAFF = "ann@example.com"
PERMISSIONS = ("MANAGE_STAFF", "MANAGE_USERS", "MANAGE_SETTINGS")
PATIENCE = 60.0

_numbers = count(1)


@dataclass(slots=True)
class OldShop:
    """A shop that the previous release serves; ``app_token`` is that of an app of the shop."""

    code: Path
    python: Path
    environment: dict[str, str]
    url: str
    receiver: HttpServer
    app_token: str = ""
    failed_requests: list[str] = field(default_factory=list)

    def flask(self, *arguments: str, code: Path | None = None, given: str = "") -> str:
        """``flask ARGUMENTS`` of the previous release, or of ``code``."""
        home = code or self.code
        python = sys.executable if code else self.python
        done = subprocess.run(
            [str(python), "-m", "flask", "--app", str(home / "wsgi.py"), *arguments],
            cwd=home,
            env=self.environment | {"PYTHONPATH": str(home)},
            input=given,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"flask {' '.join(arguments)}: {done.stderr}")
        return done.stdout.strip()

    def api(self, query: str, bearer: str = "", **variables: str) -> dict[str, object]:
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        response = requests.post(
            f"{self.url}/graphql/",
            json={"query": query, "variables": variables},
            headers=headers,
            timeout=180,
        )
        answer: dict[str, object] = response.json()
        if response.status_code != requests.codes.ok or "errors" in answer:
            raise RuntimeError(f"{response.status_code}: {answer}")
        data = answer["data"]
        assert isinstance(data, dict)
        return data


def _sign_in(shop: OldShop) -> dict[str, str]:
    result = shop.api(LOGIN, email=STAFF, password=PASSWORD)["tokenCreate"]
    assert isinstance(result, dict)
    assert not result["errors"], result
    return result


def _refresh(shop: OldShop) -> None:
    result = shop.api(REFRESH, token=_sign_in(shop)["refreshToken"])
    assert '"errors": []' in str(result).replace("'", '"'), result


def _me(shop: OldShop) -> None:
    token = _sign_in(shop)["token"]
    assert STAFF in str(shop.api(ME, token)), "me"


def _wrong_password(shop: OldShop) -> None:
    """The previous release counts these in a column that this one doesn't use."""
    token = _sign_in(shop)["token"]
    variables = {"old": "not the password", "new": f"{PASSWORD}!"}
    assert "INVALID_CREDENTIALS" in str(shop.api(CHANGE_PASSWORD, token, **variables))


def _app_token(shop: OldShop) -> None:
    found = shop.api("{ app { name permissions { code } } }", shop.app_token)
    assert "Feed" in str(found), found


def _webhook(shop: OldShop) -> None:
    before = len(shop.receiver.calls("/hook"))
    shop.flask("user", "create", f"staff{next(_numbers)}@example.com", "--staff", "--no-input")
    deadline = time.monotonic() + PATIENCE
    while len(shop.receiver.calls("/hook")) == before:
        assert time.monotonic() < deadline, "no delivery"
        time.sleep(0.1)


def _console(shop: OldShop) -> None:
    with requests.Session() as browser:
        page = browser.get(f"{shop.url}/console/", timeout=180)
        found = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', page.text)
        assert found, page.status_code
        form = {"csrf_token": found[1], "email": STAFF, "password": PASSWORD}
        browser.post(page.url, data=form, headers={"Referer": page.url}, timeout=180)
        for path in ("/console/", "/console/users/", "/console/deliveries/", "/console/audit/"):
            shown = browser.get(shop.url + path, timeout=180)
            # A page that the previous release doesn't have isn't a fault of the upgrade.
            assert shown.status_code in (requests.codes.ok, requests.codes.not_found), path
            assert "/sign-in" not in shown.url, "not signed in"


def _sign_up(shop: OldShop) -> None:
    email = f"customer{next(_numbers)}@example.com"
    shop.flask("user", "create", email, "--password-stdin", given=f"{PASSWORD}\n")
    result = shop.api(LOGIN, email=email, password=PASSWORD)["tokenCreate"]
    assert "eyJ" in str(result), result


USES: dict[str, Callable[[OldShop], object]] = {
    "sign in": _sign_in,
    "refresh": _refresh,
    "me": _me,
    "wrong current password": _wrong_password,
    "app token": _app_token,
    "webhook delivery": _webhook,
    "console": _console,
    "new customer": _sign_up,
}


def main() -> int:
    """Try all uses on both databases; return the exit code."""
    if not releases():
        _say("Nothing was released yet, so there is nothing to upgrade from.")
        return 0
    failures = 0
    previous = releases()[0]
    with (
        shared_directory() as directory,
        tempfile.TemporaryDirectory() as folder,
        _checked_out(previous, Path(folder) / "previous") as code,
    ):
        python = _installed(previous, code)
        urls = {
            "SQLite": f"sqlite:///{folder}/shop.sqlite3",
            "PostgreSQL": server_url(directory, "postgresql"),
        }
        for name, url in urls.items():
            failures += _check(name, code, python, url)
    return 1 if failures else 0


def _check(name: str, code: Path, python: Path, url: str) -> int:
    _say(f"{name}: the previous release makes and serves a shop")
    with http_server() as receiver, _served(code, python, url, receiver) as shop:
        failures = _try_all(shop, "before the upgrade")
        with _under_load(shop):
            begun = time.monotonic()
            shop.flask("db", "upgrade", code=ROOT)
            _say(f"  upgraded in {time.monotonic() - begun:.1f} s")
            failures += _try_all(shop, "after the upgrade")
        _say(f"  requests lost meanwhile: {len(shop.failed_requests)}")
        for failure in shop.failed_requests[:3]:
            _say(f"    {failure}")
        return failures + len(shop.failed_requests)


def _try_all(shop: OldShop, when: str) -> int:
    failures = 0
    for name, use in USES.items():
        try:
            use(shop)
        except (AssertionError, RuntimeError, requests.RequestException) as error:
            failures += 1
            _say(f"  {when}: {name} FAILED: {error}")
    _say(f"  {when}: {len(USES) - failures} of {len(USES)} uses work")
    return failures


@contextmanager
def _checked_out(previous: Release, folder: Path) -> Iterator[Path]:
    git = ["git", "-C", str(ROOT), "worktree"]
    subprocess.run([*git, "add", "--quiet", "--detach", str(folder), previous.commit], check=True)
    try:
        yield folder
    finally:
        subprocess.run([*git, "remove", "--force", str(folder)], check=True)


def _installed(previous: Release, code: Path) -> Path:
    """Return a Python with the packages of the previous release, which are installed once."""
    folder = ROOT / ".venv" / f"packages-{previous.version}"
    python = folder / "bin" / "python"
    if not (folder / "installed").exists():
        _say(f"installing the packages of {previous.version}")
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        pip = [str(python), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
        subprocess.run(
            [*pip, "--require-hashes", "-r", str(code / "requirements.txt")], check=True
        )
        (folder / "installed").touch()
    return python


@contextmanager
def _served(code: Path, python: Path, url: str, receiver: HttpServer) -> Iterator[OldShop]:
    port = free_port()
    environment = {
        "DATABASE_URL": url,
        "SECRET_KEY": "the secret key of the shop that is upgraded",
        "OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8",
        "HOME": str(code),
        "PATH": "/usr/bin:/bin",
    }
    shop = OldShop(code, python, environment, f"http://127.0.0.1:{port}", receiver)
    shop.flask("db", "upgrade")
    permissions = [word for code_ in PERMISSIONS for word in ("--permission", code_)]
    shop.flask("user", "create", STAFF, "--superuser", "--password-stdin", given=f"{PASSWORD}\n")
    shop.app_token = shop.flask("app", "create", "Feed", *permissions, "--short").split()[-1]
    hook = receiver.answer("/hook", Reply())
    event = ("--event", "STAFF_CREATED", "--name", "hook", "--no-input")
    shop.flask("webhook", "create", "--app", "Feed", "--target-url", hook, *event)
    serve = ["serve", "--port", str(port), "--workers", "1"]
    log = (code / "output").open("w")
    process = subprocess.Popen(
        [str(python), "-m", "flask", "--app", str(code / "wsgi.py"), *serve],
        cwd=code,
        env=environment | {"PYTHONPATH": str(code)},
        stdout=log,
        stderr=log,
    )
    try:
        _wait_until_served(shop, process)
        yield shop
    finally:
        process.terminate()
        process.wait(180)
        log.close()


def _wait_until_served(shop: OldShop, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        try:
            shop.api("{ shop { name } }")
        except requests.ConnectionError:
            time.sleep(0.1)
        else:
            return
    raise RuntimeError((shop.code / "output").read_text())


@contextmanager
def _under_load(shop: OldShop) -> Iterator[None]:
    """Ask for the person behind a token again and again, and note what fails."""
    token = _sign_in(shop)["token"]
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            try:
                shop.api("{ me { email } }", token)
            except (RuntimeError, requests.RequestException) as error:
                shop.failed_requests.append(str(error))
            time.sleep(0.02)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(180)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
