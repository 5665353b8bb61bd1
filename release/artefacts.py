"""The files of a release, made from one commit, the same bytes each time.

Of what the commit doesn't hold, they have only the built assets of ``app/static/vendor``, which
the lock file of ``playground`` decides.
"""

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from release.chart import make_chart

ROOT = Path(__file__).parents[1]
VENDOR = Path("app/static/vendor")
_IMAGE = (
    *("app", "cli.py", "deploy", "LICENSE", "migrations", "playground/package.json"),
    *("playground/package-lock.json", "requirements.txt", "wsgi.py"),
)
"""What ``docker build -f deploy/Dockerfile .`` takes from its folder."""

_BUILD_TYPE = "urn:latchkey:make-release:1"


def make_artefacts(commit: str, version: str, target: Path) -> list[Path]:
    """Write the files of ``version`` at ``commit`` into the new folder ``target``; return them.

    They are: wheel, source distribution, verifier's wheel, lock file, SBOM, documentation site,
    image context, Helm chart, provenance statement, checksums. Raises
    ``subprocess.CalledProcessError`` if a step fails, having shown why.
    """
    target.mkdir(parents=True)
    seconds = int(git("show", "-s", "--format=%ct", commit))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(seconds), "NO_MKDOCS_2_WARNING": "1"}
    with _checked_out(commit) as code:
        build = ("-m", "hatchling", "build", "-d", str(target))
        _run(code, environment, *build)
        _run(code / "verifier", environment, *build, "-t", "wheel")
        _write_sbom(code, environment, target / f"latchkey-{version}.cdx.json")
        _run(code, environment, "-m", "mkdocs", "build", "--quiet", "--site-dir", "site")
        _archive(target / f"latchkey-{version}-docs.tar.gz", code, ["site"], seconds)
        _archive(target / f"latchkey-{version}-image.tar.gz", code, _IMAGE, seconds)
        make_chart(code / "deploy", version, code / "latchkey")
        _archive(target / f"latchkey-chart-{version}.tgz", code, ["latchkey"], seconds)
        shutil.copy(code / "requirements.txt", target / f"latchkey-{version}-requirements.txt")
    subjects = sorted(target.iterdir())
    statement = target / f"latchkey-{version}.intoto.json"
    statement.write_text(json.dumps(_provenance(subjects, commit, version), indent=2) + "\n")
    sums = "".join(f"{_digest(file)}  {file.name}\n" for file in [*subjects, statement])
    (target / "SHA256SUMS").write_text(sums)
    return sorted(target.iterdir())


def differences(one: Path, other: Path) -> list[str]:
    """Return the names of files that two folders don't have alike."""
    names = {file.name for folder in (one, other) for file in folder.iterdir()}
    return sorted(name for name in names if _content(one / name) != _content(other / name))


def _content(file: Path) -> bytes | None:
    return file.read_bytes() if file.exists() else None


@contextmanager
def _checked_out(commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="latchkey-release-") as folder:
        code = Path(folder) / "code"
        with tarfile.open(fileobj=io.BytesIO(_git_output("archive", commit))) as archive:
            archive.extractall(code, filter="data")
        if (ROOT / VENDOR).is_dir():
            shutil.copytree(ROOT / VENDOR, code / VENDOR)
        yield code


def _run(folder: Path, environment: dict[str, str], *arguments: str) -> None:
    command = [sys.executable, *arguments]
    subprocess.run(command, cwd=folder, env=environment, check=True, timeout=600)


def _write_sbom(code: Path, environment: dict[str, str], file: Path) -> None:
    """Write what the lock file installs, with its hashes, as CycloneDX 1.6."""
    arguments = (
        "--pyproject",
        "pyproject.toml",
        "--output-reproducible",
        "--mc-type",
        "application",
    )
    _run(
        code,
        environment,
        *("-m", "cyclonedx_py", "requirements", *arguments),
        *("--sv", "1.6", "--of", "JSON", "-o", str(file), "requirements.txt"),
    )


def _archive(file: Path, folder: Path, names: Iterable[str], seconds: int) -> None:
    """Pack ``names`` of ``folder``, as of ``seconds`` (Unix time), without owner and umask."""

    def uniform(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.mtime, member.uid, member.gid = seconds, 0, 0
        member.uname = member.gname = ""
        member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
        return member

    files = sorted(
        found
        for name in names
        for path in [folder / name]
        for found in (path.rglob("*") if path.is_dir() else [path])
        if found.is_file()
    )
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for found in files:
            archive.add(found, found.relative_to(folder), recursive=False, filter=uniform)
    file.write_bytes(gzip.compress(packed.getvalue(), mtime=seconds))


def _provenance(subjects: list[Path], commit: str, version: str) -> dict[str, object]:
    """Return an in-toto statement: which commit the files were made from, and how.

    It isn't signed. The uploader signs it, with a key that readers know.
    """
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": file.name, "digest": {"sha256": _digest(file)}} for file in subjects],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": _BUILD_TYPE,
                "externalParameters": {"command": f"make release VERSION={version}"},
                "resolvedDependencies": [{"name": "latchkey", "digest": {"gitCommit": commit}}],
            },
            "runDetails": {"builder": {"id": "make release"}},
        },
    }


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


class GitFailed(Exception):
    """A git command failed; the message is the command and what git, or its hook, printed."""


def git(*arguments: str, root: Path = ROOT) -> str:
    """Run git in the repository and return what it prints, without the space around it.

    Raises ``GitFailed``.
    """
    return _git_output(*arguments, root=root).decode().strip()


def _git_output(*arguments: str, root: Path = ROOT) -> bytes:
    # Hooks can take long, and a key that signs can ask for its passphrase.
    done = subprocess.run(
        ["git", *arguments], cwd=root, check=False, capture_output=True, timeout=600
    )
    if done.returncode:
        printed = b"\n".join(part.strip() for part in (done.stdout, done.stderr) if part.strip())
        raise GitFailed(f"git {arguments[0]} failed:\n{printed.decode(errors='replace')}")
    return done.stdout
