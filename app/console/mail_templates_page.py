"""The view models of email templates: the list of emails, and the editor of one."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from app.console.parts import Pill
from app.domain.mails.languages import SHIPPED_LANGUAGES
from app.domain.mails.mail import KIND_LABELS, MailKind
from app.domain.mails.own_templates import (
    CONDITION,
    FILTERS,
    VALUES,
    FolderFault,
    TemplateValue,
    ValueType,
)
from app.domain.values.errors import Problem
from app.domain.values.text import translatable
from app.services.shop.mail_templates import TemplateDetails, TemplateEntry
from app.web.translation import problem_text, text, texts

_ALL_LANGUAGES = translatable("All languages")
_DEFAULT = Pill("off", translatable("Default"))
_OWN = Pill("ok", translatable("Custom"))
_FOLDER = Pill("info", translatable("Folder"))
_BROKEN = Pill("bad", translatable("Can't be used"))


@dataclass(frozen=True, slots=True)
class TemplateUse:
    """A template that is used for a language, or the default for all."""

    language: str
    code: str
    state: Pill
    saved_at: datetime | None = None
    saved_by: str = ""
    fault: str = ""


@dataclass(frozen=True, slots=True)
class TemplateRow:
    """An email with the templates that are used for it."""

    kind: str
    label: str
    uses: tuple[TemplateUse, ...]


@dataclass(frozen=True, slots=True)
class LanguageChoice:
    label: str
    url: str
    is_current: bool
    has_template: bool


@dataclass(frozen=True, slots=True)
class VersionRow:
    version: int
    url: str
    is_current: bool
    saved_at: datetime
    saved_by: str


@dataclass(frozen=True, slots=True)
class DocumentedValue:
    """A value as the editor explains it; ``code`` is how a template shows it."""

    code: str
    meaning: str
    is_required: bool


@dataclass(frozen=True, slots=True)
class TemplatePage:
    """The editor. ``shown_version`` is the one in the editor, 0 for the default."""

    kind: str
    label: str
    language: str
    state: Pill
    fault: str
    languages: tuple[LanguageChoice, ...]
    values: tuple[DocumentedValue, ...]
    filters: Mapping[str, str]
    condition: str
    has_lists: bool
    versions: tuple[VersionRow, ...]
    shown_version: int
    is_own: bool
    is_old_version: bool


def make_template_list(
    entries: Iterable[TemplateEntry], faults: Sequence[FolderFault]
) -> dict[str, object]:
    """Return the values of the list: a row for each email, and files without a meaning."""
    uses: dict[MailKind, list[TemplateUse]] = {kind: [] for kind in MailKind}
    for entry in entries:
        uses[entry.kind].append(_use(entry))
    rows = tuple(
        TemplateRow(kind.value, text(KIND_LABELS[kind]), tuple(found) or (_default_use(),))
        for kind, found in uses.items()
    )
    unknown = [
        text("{path}: {problem}", path=fault.path, problem=problem_text(fault.problem))
        for fault in faults
        if fault.kind is None
    ]
    return {"rows": rows, "unknown": unknown}


def make_template_page(
    kind: MailKind,
    language: str,
    details: TemplateDetails,
    entries: Iterable[TemplateEntry],
    address: Callable[..., str],
) -> TemplatePage:
    """Return the editor of the template for ``kind`` and ``language``.

    ``address`` returns the editor's URL for a language and, if given, a version.
    """
    in_use = {entry.language_code: entry for entry in entries if entry.kind is kind}
    current = in_use.get(language)
    choices = {"": text(_ALL_LANGUAGES), **SHIPPED_LANGUAGES}
    fault = details.fault or (current.fault if current else None)
    return TemplatePage(
        kind=kind.value,
        label=text(KIND_LABELS[kind]),
        language=language,
        state=_shown(_DEFAULT) if current is None else _use(current).state,
        fault=_described(fault),
        languages=tuple(
            LanguageChoice(label, address(code), code == language, code in in_use)
            for code, label in choices.items()
        ),
        values=tuple(_documented(value) for value in VALUES[kind].values()),
        filters=texts(FILTERS),
        condition=CONDITION,
        has_lists=any(value.type is ValueType.LIST for value in VALUES[kind].values()),
        versions=tuple(
            VersionRow(
                one.version,
                address(language, one.version),
                one.is_current,
                one.saved_at,
                one.saved_by,
            )
            for one in details.versions
        ),
        shown_version=details.version,
        is_own=any(one.is_current for one in details.versions),
        is_old_version=bool(details.version)
        and not any(one.is_current and one.version == details.version for one in details.versions),
    )


def template_title(kind: MailKind, language: str) -> str:
    """Return what a template is called, in the language of the page."""
    label = text(KIND_LABELS[kind])
    if not language:
        return label
    return text("{name} ({language})", name=label, language=SHIPPED_LANGUAGES[language])


def with_lines(problem: Problem) -> Problem:
    """Return ``problem`` with its line in front, for a source of many lines."""
    if not problem.lines or problem.field == "subject":
        return problem
    return replace(problem, place=text("Line {line}", line=problem.lines[0]))


def bad_lines(problems: Iterable[Problem]) -> dict[str, set[int]]:
    """Return the lines at fault by the source's field."""
    found: dict[str, set[int]] = {}
    for problem in problems:
        found.setdefault(problem.field or "", set()).update(problem.lines)
    return found


def _default_use() -> TemplateUse:
    return TemplateUse("", "", _shown(_DEFAULT))


def _use(entry: TemplateEntry) -> TemplateUse:
    state = _BROKEN if entry.fault else _OWN if entry.version else _FOLDER
    return TemplateUse(
        SHIPPED_LANGUAGES.get(entry.language_code) or text(_ALL_LANGUAGES),
        entry.language_code,
        _shown(state),
        entry.saved_at,
        entry.saved_by,
        _described(entry.fault),
    )


def _shown(state: Pill) -> Pill:
    return Pill(state.state, text(state.words))


def _described(problem: Problem | None) -> str:
    """Return what is wrong with a template, with its part and line."""
    if problem is None or problem.field is None:
        return "" if problem is None else problem_text(problem)
    return text(
        "{part}, line {line}: {problem}",
        part=problem.field,
        line=problem.lines[0] if problem.lines else 1,
        problem=problem_text(problem),
    )


def _documented(value: TemplateValue) -> DocumentedValue:
    return DocumentedValue(value.code, text(value.meaning), value.type is ValueType.LINK)
