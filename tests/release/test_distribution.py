"""The distribution: one package, ``latchkey``, that works without this repository."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from release.distribution import rename
from tests.house.sources import ROOT

pytestmark = pytest.mark.first

PATH = "/usr/bin:/bin"
MAIN = """
import pkgutil, importlib, sys, latchkey
for found in pkgutil.walk_packages(latchkey.__path__, "latchkey."):
    if found.name != "latchkey.wsgi" and not found.name.startswith("latchkey.migrations"):
        importlib.import_module(found.name)
from latchkey.wsgi import app
def flask(*arguments):
    print(app.test_cli_runner().invoke(args=arguments).output)
flask("db", "upgrade")
flask("user", "create", "ann@example.com", "--superuser", "--no-input")
query, german = {"query": "{ shop { version } }"}, {"Accept-Language": "de"}
print(app.test_client().post("/graphql/", json=query).get_data(as_text=True))
print(app.test_client().get("/console/sign-in", headers=german).get_data(as_text=True))
names = {name.partition(".")[0] for name in sys.modules}
print("of the repository:", sorted(names & {"app", "cli", "wsgi", "migrations"}))
"""
STATE = """
import importlib, os, pwd, sys
from pathlib import Path
from latchkey.app.composition import settings
def show():
    importlib.reload(settings)
    print(settings.DEFAULT_DATABASE_URL)
show()
earlier = Path(sys.argv[1])
earlier.mkdir()
show()
earlier.rmdir()
show()
del os.environ["HOME"]
pwd.getpwuid = {}.__getitem__
show()
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's files in a folder, as pip puts them into an environment."""
    folder = tmp_path_factory.mktemp("installed")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.thorough  # make release compares its files with those that it makes again
def test_wheel_is_the_same_when_it_is_built_again(wheel: Path, tmp_path: Path) -> None:
    assert _build(tmp_path).read_bytes() == wheel.read_bytes()


@pytest.mark.thorough
def test_installed_package_fills_a_shop_without_the_repository(
    installed: Path, tmp_path: Path
) -> None:
    """As `make release` does; in `make test` a name of the repository stops the build, below."""
    (tmp_path / ".env").write_text(f"DATABASE_URL=sqlite:///{tmp_path}/shop.sqlite3\n")
    answer = _python(installed, tmp_path, "-c", MAIN)
    assert "Up to date\tyes" in answer
    assert "ann@example.com" in answer
    assert '"version"' in answer
    assert "Anmelden" in answer
    assert answer.endswith("of the repository: []\n")


def test_wheel_has_one_package_that_keeps_its_state_out_of_its_own_folder(
    installed: Path, tmp_path: Path
) -> None:
    """Unless it is there already, or there is no home folder: a container's user may have none."""
    names = {path.name for path in installed.iterdir() if path.suffix != ".dist-info"}
    assert names == {"latchkey"}
    home, own = tmp_path / ".local/state/latchkey/instance", installed / "latchkey/instance"
    shown = _python(installed, tmp_path, "-c", STATE, str(own)).splitlines()
    assert shown == [f"sqlite:///{folder}/latchkey.sqlite3" for folder in (home, own, home, own)]


@pytest.mark.parametrize(
    ("source", "renamed"),
    [
        ("from app.models import User\n", "from latchkey.app.models import User\n"),
        ("import app as latchkey\n", "from latchkey import app as latchkey\n"),
        ("    \nimport cli\n", "    \nfrom latchkey import cli\n"),
        ('x = "app.composition.factory"\n', 'x = "latchkey.app.composition.factory"\n'),
        ('x = f"app.services.{name}"\n', 'x = f"latchkey.app.services.{name}"\n'),
        (
            'é = "ü"; x = "app.commands.db:command"\n',
            'é = "ü"; x = "latchkey.app.commands.db:command"\n',
        ),
        ('action = "app.update"\n', 'action = "app.update"\n'),
        (
            "from appdirs import user\nfrom . import app\n",
            "from appdirs import user\nfrom . import app\n",
        ),
        ("app.cli = Commands()\n", "app.cli = Commands()\n"),
    ],
)
def test_names_of_own_modules_alone_are_renamed(source: str, renamed: str) -> None:
    assert rename(source, ROOT) == renamed


@pytest.mark.parametrize(
    "source", ["import app.models\n", "import cli, os\n", "x = 'app.composition.factory'\n"]
)
def test_what_cannot_be_renamed_stops_the_build(source: str) -> None:
    with pytest.raises(ValueError, match="line 1"):
        rename(source, ROOT)


def _build(folder: Path) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    environment = {"PATH": PATH, "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run(
        command, cwd=ROOT, env=environment, check=True, capture_output=True, timeout=120
    )
    return next(folder.glob("*.whl"))


def _python(installed: Path, folder: Path, *arguments: str) -> str:
    """Run Python with the wheel's files, without the repository on its path."""
    environment = {"PATH": PATH, "HOME": str(folder), "PYTHONPATH": str(installed)}
    done = subprocess.run(
        [sys.executable, *arguments],
        check=False,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
