"""The repository's files, and its Python sources as syntax trees."""

import ast
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from translations.extraction import nodes_of

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Source:
    """A Python file; ``path`` is relative to the project and reads the same on every system."""

    path: str
    text: str

    @property
    def tree(self) -> ast.Module:
        """Its syntax tree, parsed when first needed: most files of tests never are."""
        tree = self.nodes[0]
        assert isinstance(tree, ast.Module)
        return tree

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All of the tree."""
        return nodes_of(self.text)

    @property
    def length(self) -> int:
        return len(self.text.splitlines())


@cache
def project_files() -> tuple[Path, ...]:
    """Return every file that is tracked or would be added by the next commit."""
    # The clone may belong to somebody else than who runs the tests; only names are read.
    listing = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listed = subprocess.run(
        [*listing, "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = (ROOT / name for name in sorted(listed.split("\0")) if name)
    return tuple(path for path in paths if path.is_file())


@cache
def python_sources() -> tuple[Source, ...]:
    """Return every Python file."""
    return tuple(
        Source(path.relative_to(ROOT).as_posix(), path.read_text())
        for path in project_files()
        if path.suffix == ".py"
    )


@cache
def application() -> tuple[Source, ...]:
    """Return the application's sources: ``app`` and its two entry points."""
    return tuple(
        source
        for source in python_sources()
        if source.path.startswith("app/") or source.path in ("cli.py", "wsgi.py")
    )
