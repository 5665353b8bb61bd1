"""What hatchling runs to build the distribution ``latchkey`` from this repository.

Its wheel has one top-level package, ``latchkey``, so that nothing of it can stand in the way of a
module ``app`` or ``cli`` of another program. One rule makes it: ``app``, ``migrations``,
``cli.py`` and ``wsgi.py`` move into ``latchkey``, and each import of them, and each string that is
the dotted name of one of their modules (``"app.models"``, ``"app.commands.serve:command"``),
begins with ``latchkey.``. Everything else is copied byte for byte; translations are compiled.
"""

import ast
import re
import shutil
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.builders.wheel import WheelBuilderConfig
from hatchling.metadata.plugin.interface import MetadataHookInterface
from typing_extensions import override

PACKAGE = "latchkey"
_FOLDERS = ("app", "migrations")
_MODULES = ("cli", "wsgi")
_OWN = frozenset((*_FOLDERS, *_MODULES))
_DOTTED = re.compile(r"[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)*")
_PINNED = re.compile(r"^([a-z0-9-]+)(?:\[[^]]*\])?==([0-9.]+)", re.MULTILINE)
_NO_DATE = datetime.fromtimestamp(0, UTC)
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "*.po", "*.pot", "node_modules")

_INIT = '"""Sign-in, tokens, apps and webhooks for a commerce platform, over GraphQL."""\n'


class BuildHook(BuildHookInterface[WheelBuilderConfig]):
    """Fills the wheel with the package ``latchkey``."""

    PLUGIN_NAME = "custom"

    @override
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the package in a folder of its own, and have it included as ``latchkey``."""
        self._folder = tempfile.TemporaryDirectory(prefix="latchkey-build-")
        package = Path(self._folder.name) / PACKAGE
        make_package(Path(self.root), package)
        build_data["force_include"][str(package)] = PACKAGE

    @override
    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()


class MetadataHook(MetadataHookInterface):
    """Takes the dependencies from ``requirements.in`` and ``requirements.txt``.

    A package is asked for from the locked release on, below the next that may break: so each new
    installation gets its security fixes. ``requirements.txt`` is the set that was tested.
    """

    PLUGIN_NAME = "custom"

    @override
    def update(self, metadata: dict[str, Any]) -> None:
        metadata["dependencies"] = list(_dependencies(Path(self.root)))


def _dependencies(root: Path) -> Iterator[str]:
    locked = dict(_PINNED.findall((root / "requirements.txt").read_text()))
    for line in (root / "requirements.in").read_text().splitlines():
        if not line or line.startswith("#"):
            continue
        name, _, own = line.partition("<")
        name = re.split("[>=]", name)[0]
        release = locked[name.partition("[")[0]]
        major, minor = map(int, release.split(".")[:2])
        above = own or (f"{major + 1}" if major else f"0.{minor + 1}")
        yield f"{name}>={release},<{above}"


def make_package(root: Path, package: Path) -> None:
    """Write the package ``latchkey`` of the repository at ``root`` into the folder ``package``."""
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(_INIT)
    for name in _FOLDERS:
        shutil.copytree(root / name, package / name, ignore=_LEFT_OUT)
    for name in _MODULES:
        shutil.copy(root / f"{name}.py", package)
    for file in sorted(package.rglob("*.py")):
        source = file.read_text()
        renamed = rename(source, root)
        if renamed != source:
            file.write_text(renamed)
    _compile_translations(root, package)


def rename(source: str, root: Path) -> str:
    """Return ``source`` with ``latchkey.`` before each name of a module of ``root``.

    Raises ``ValueError`` for what this can't do alike: ``import app.x``, two imports in one, and a
    name within an f-string or in single quotes.
    """
    lines = source.encode().splitlines(keepends=True)
    # A set: Python 3.11 says of an f-string's parts that they begin where it does. From the end,
    # so that what is inserted moves no place that is still to be changed.
    for line, column, old, new in sorted(set(_changes(ast.parse(source), root)), reverse=True):
        text = lines[line - 1]
        begin = re.compile(old).match(text, column)
        if not begin:
            raise ValueError(f"line {line}: latchkey can't be put into {text.decode()!r}")
        lines[line - 1] = text[:column] + begin.expand(new) + text[begin.end() :]
    return b"".join(lines).decode()


def _changes(tree: ast.Module, root: Path) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Yield for each change its line, its column in bytes, a pattern and what takes its place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and _is_own(node.module or ""):
            yield node.lineno, node.col_offset, b"from ", b"from latchkey."
        elif isinstance(node, ast.Import) and any(_is_own(one.name) for one in node.names):
            yield (
                node.lineno,
                node.col_offset,
                rb"import (\w+)\b(?! *[.,])",
                rb"from latchkey import \1",
            )
        elif isinstance(node, ast.Constant | ast.JoinedStr) and _names_module(node, root):
            yield node.lineno, node.col_offset, b'([rf]?")', rb"\1latchkey."


def _is_own(name: str) -> bool:
    return name.partition(".")[0] in _OWN


def _names_module(node: ast.expr, root: Path) -> bool:
    """Whether ``node`` is a string that begins with the dotted name of a module below ``app``."""
    begin = node.values[0] if isinstance(node, ast.JoinedStr) and node.values else node
    text = begin.value if isinstance(begin, ast.Constant) else None
    found = _DOTTED.match(text) if isinstance(text, str) else None
    if not found or not found[0].startswith("app."):
        return False
    path = root.joinpath(*found[0].split(".")[:2])
    return path.is_dir() or path.with_suffix(".py").is_file()


def _compile_translations(root: Path, package: Path) -> None:
    for file in sorted((root / "app/translations").rglob("*.po")):
        with file.open("rb") as source:
            catalog = read_po(source)
        # They aren't in our files, and would be the time of the build.
        catalog.creation_date = catalog.revision_date = _NO_DATE
        compiled = BytesIO()
        write_mo(compiled, catalog)
        target = package / file.relative_to(root).with_suffix(".mo")
        target.write_bytes(compiled.getvalue())
