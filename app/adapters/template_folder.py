"""Own email templates in a folder of the installation: ``MAIL_TEMPLATES``.

``KIND.txt`` begins with the subject's line, as ours do; ``KIND.html`` is the other body. Those for
one language are in a folder of its code: ``de/KIND.txt``. Files are read for each email, so that a
change applies at once.
"""

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from app.adapters.own_templates import check_template
from app.domain.accounts.languages import SHIPPED_LANGUAGES
from app.domain.mails.mail import MailKind
from app.domain.mails.own_templates import MAX_SOURCE, FolderFault, OwnTemplate, UrlRule
from app.domain.urls.web_urls import parse_web_url
from app.domain.values.errors import Problem
from app.ports.mail import OwnTemplateBroken

_MAX_BYTES = 4 * MAX_SOURCE
_SUFFIXES = (".txt", ".html")


class JinjaOwnTemplates:
    """Checks templates; finds those in ``folder``, if there is one."""

    def __init__(self, folder: str = "") -> None:
        self._folder = Path(folder) if folder else None

    def check(
        self, kind: MailKind, template: OwnTemplate, url_rule: UrlRule
    ) -> tuple[Problem, ...]:
        return check_template(kind, template, url_rule)

    def find(self, kind: MailKind, language_code: str) -> OwnTemplate | None:
        if self._folder is None:
            return None
        for language in (language_code, ""):
            template = _read(self._place(language), kind)
            if template is not None:
                _require_good(kind, template)
                return template
        return None

    def listed(self) -> tuple[tuple[MailKind, str], ...]:
        if self._folder is None:
            return ()
        places = [(language, self._place(language)) for language in ("", *SHIPPED_LANGUAGES)]
        return tuple(
            (kind, language)
            for kind in MailKind
            for language, place in places
            if any((place / f"{kind.value}{suffix}").is_file() for suffix in _SUFFIXES)
        )

    def faults(self) -> tuple[FolderFault, ...]:
        if self._folder is None:
            return ()
        if not self._folder.is_dir():
            problem = Problem("NOT_FOUND", "There is no such folder.")
            return (FolderFault(str(self._folder), None, "", problem),)
        return (*self._unknown_files(), *self._broken_templates())

    def _place(self, language: str) -> Path:
        assert self._folder is not None  # noqa: S101 - callers return before
        return self._folder / language.lower() if language else self._folder

    def _broken_templates(self) -> Iterator[FolderFault]:
        for kind, language in self.listed():
            try:
                template = _read(self._place(language), kind)
                if template is not None:
                    _require_good(kind, template)
            except OwnTemplateBroken as broken:
                suffix = ".html" if broken.problem.field == "html" else ".txt"
                path = str(self._place(language) / f"{kind.value}{suffix}")
                yield FolderFault(path, kind, language, broken.problem)

    def _unknown_files(self) -> Iterator[FolderFault]:
        """Yield files that replace nothing: a misspelled name would go unnoticed."""
        for language in ("", *SHIPPED_LANGUAGES):
            place = self._place(language)
            for path in sorted(place.iterdir()) if place.is_dir() else ():
                is_known = path.suffix in _SUFFIXES and path.stem in {*MailKind}
                if path.is_file() and not path.name.startswith(".") and not is_known:
                    message = "No email has this name. Names are KIND.txt and KIND.html."
                    yield FolderFault(str(path), None, language, Problem("INVALID", message))


def _read(place: Path, kind: MailKind) -> OwnTemplate | None:
    html, text = (_read_file(place / f"{kind.value}{suffix}") for suffix in (".html", ".txt"))
    if html is None and text is None:
        return None
    if html is None or text is None:
        missing = "html" if html is None else "text"
        name = f"{kind.value}{'.html' if html is None else '.txt'}"
        message = "{name} is missing: an email needs both files."
        raise OwnTemplateBroken(Problem("REQUIRED", message, missing, values={"name": name}))
    subject, _, body = text.partition("\n")
    return OwnTemplate(subject, html, body)


def _read_file(path: Path) -> str | None:
    part = path.suffix.removeprefix(".").replace("txt", "text")
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        problem = Problem("INVALID", "Can't be read: {reason}.", part, values={"reason": reason})
        raise OwnTemplateBroken(problem) from None
    if len(data) > _MAX_BYTES:
        message = "The file is larger than {limit} kB."
        limit = _MAX_BYTES // 1024
        raise OwnTemplateBroken(Problem("INVALID", message, part, values={"limit": limit}))
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError:
        raise OwnTemplateBroken(Problem("INVALID", "The file isn't UTF-8.", part)) from None


def _url_problem(url: str) -> Problem | None:
    """Refuse what isn't an https URL; the folder's owner decides to which hosts links lead."""
    address = parse_web_url(url)
    if address is None or address.scheme != "https":
        return Problem("INVALID", "Use a full URL, such as https://shop.example.com/help.")
    return None


def _require_good(kind: MailKind, template: OwnTemplate) -> None:
    problems = _problems(kind, template)
    if problems:
        raise OwnTemplateBroken(problems[0])


@lru_cache(maxsize=64)
def _problems(kind: MailKind, template: OwnTemplate) -> tuple[Problem, ...]:
    return check_template(kind, template, _url_problem)
