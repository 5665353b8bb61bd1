"""Email templates: the list of emails, the editor with its preview, versions, and the default."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from flask import Response, abort, flash, jsonify, request, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import HiddenField, StringField, TextAreaField

from app.console.frame.forms import EditedThing, EditForm
from app.console.frame.navigation import EMAILS, Entry, Heading, PageGroup
from app.console.frame.page_layout import mail_message, page, redirect_with_success, refused_page
from app.console.frame.parts import Pill
from app.console.frame.session import actor, ports, require
from app.console.frame.submissions import (
    Entered,
    entered_before,
    entered_fields,
    redirect_with_entered,
)
from app.console.shop import mail_previews
from app.console.shop.emails import SUBJECTS, subject_of
from app.domain.accounts.languages import SHIPPED_LANGUAGES
from app.domain.authorization.permissions import Permission
from app.domain.mails import own_templates
from app.domain.mails.mail import KIND_LABELS, MailKind
from app.domain.mails.mail_log import MailEntry
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import parse_key
from app.domain.values.text import translatable
from app.services.authorization.register import can_call
from app.services.console.console_sessions import show_default_language
from app.services.console.home import sends_mail
from app.services.mails import mail_templates
from app.services.mails.mail_log import last_mails
from app.web.translation import lazy_text, problem_text, text, texts

_ALL_LANGUAGES = translatable("All languages")
_DEFAULT = Pill("off", translatable("Default"))
_OWN = Pill("ok", translatable("Custom"))
_FOLDER = Pill("info", translatable("Folder"))
_BROKEN = Pill("bad", translatable("Can't be used"))
_NONE_SENT: Mapping[str, MailEntry] = {}


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
    """An email with the templates that are used for it, and the newest one in the mail log."""

    kind: str
    label: str
    uses: tuple[TemplateUse, ...]
    last: MailEntry | None = None
    last_state: Pill | None = None


@dataclass(frozen=True, slots=True)
class TemplateGroup:
    """Emails about one subject, as the index beside the editor lists them."""

    label: str
    rows: tuple[TemplateRow, ...]


@dataclass(frozen=True, slots=True)
class LanguageChoice:
    label: str
    url: str
    is_current: bool
    has_template: bool


def make_template_list(
    entries: Iterable[mail_templates.TemplateEntry],
    faults: Sequence[own_templates.FolderFault],
    last: Mapping[str, MailEntry] = _NONE_SENT,
) -> dict[str, object]:
    """Return the list's groups of emails, with the newest ones, and files without a meaning."""
    unknown = [
        text("{path}: {problem}", path=fault.path, problem=problem_text(fault.problem))
        for fault in faults
        if fault.kind is None
    ]
    return {"groups": make_template_groups(entries, last), "unknown": unknown}


def make_template_groups(
    entries: Iterable[mail_templates.TemplateEntry], last: Mapping[str, MailEntry] = _NONE_SENT
) -> tuple[TemplateGroup, ...]:
    """Return every email with the templates that are used for it, by subject."""
    uses: dict[MailKind, list[TemplateUse]] = {kind: [] for kind in MailKind}
    for entry in entries:
        uses[entry.kind].append(_use(entry))
    return tuple(
        TemplateGroup(
            text(label),
            tuple(
                TemplateRow(
                    kind.value,
                    text(KIND_LABELS[kind]),
                    tuple(found) or (_default_use(),),
                    last.get(kind.value),
                    mail_previews.unsent_pill(last.get(kind.value)),
                )
                for kind, found in uses.items()
                if subject_of(kind) == subject
            ),
        )
        for subject, label in SUBJECTS.items()
    )


def _template_values(
    kind: MailKind,
    language: str,
    details: mail_templates.TemplateDetails,
    entries: Sequence[mail_templates.TemplateEntry],
) -> dict[str, object]:
    """Return what the editor shows of the template for ``kind`` and ``language``.

    ``shown_version`` is the one in the editor, 0 for the default. ``readers`` says who gets which
    template.
    """
    in_use = {entry.language_code: entry for entry in entries if entry.kind is kind}
    current = in_use.get(language)
    choices = {"": text(_ALL_LANGUAGES), **SHIPPED_LANGUAGES}
    used_version = next((one.version for one in details.versions if one.is_current), None)
    return {
        "kind": kind.value,
        "label": text(KIND_LABELS[kind]),
        "language": language,
        "state": _state(current, mail_templates.template_for(entries, kind, language)),
        "readers": mail_previews.readers_sentence(
            kind, language, entries, details.default_language
        ),
        "fault": _described(details.fault or (current.fault if current else None)),
        "languages": [
            LanguageChoice(label, _address(kind, code), code == language, code in in_use)
            for code, label in choices.items()
        ],
        "documented": [
            (value.code, text(value.meaning), value.type is own_templates.ValueType.LINK)
            for value in own_templates.VALUES[kind].values()
        ],
        "filters": texts(own_templates.FILTERS),
        "condition": own_templates.CONDITION,
        "versions": [(one, _address(kind, language, one.version)) for one in details.versions],
        "shown_version": details.version,
        "is_own": used_version is not None,
        "is_old_version": bool(details.version) and details.version != used_version,
    }


def _state(
    current: mail_templates.TemplateEntry | None, used: mail_templates.TemplateEntry | None
) -> Pill:
    """Return the state of the tab: what is saved for it, else what its readers get."""
    if current is not None:
        return _use(current).state
    return _translated_pill(_DEFAULT) if used is None else Pill("info", text(_ALL_LANGUAGES))


def template_title(kind: MailKind, language: str) -> str:
    label = text(KIND_LABELS[kind])
    if not language:
        return label
    return text("{name} ({language})", name=label, language=SHIPPED_LANGUAGES[language])


def _default_use() -> TemplateUse:
    return TemplateUse("", "", _translated_pill(_DEFAULT))


def _use(entry: mail_templates.TemplateEntry) -> TemplateUse:
    state = _BROKEN if entry.fault else _OWN if entry.version else _FOLDER
    return TemplateUse(
        SHIPPED_LANGUAGES.get(entry.language_code) or text(_ALL_LANGUAGES),
        entry.language_code,
        _translated_pill(state),
        entry.saved_at,
        entry.saved_by,
        _described(entry.fault),
    )


def _translated_pill(state: Pill) -> Pill:
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


blueprint = PageGroup(
    "mail_templates",
    __name__,
    Entry(
        "Emails",
        "envelope-paper",
        "mail template invitation reset confirmation notice text html subject design",
        Heading.SHOP,
        needs=mail_templates.list_templates,
        area=EMAILS,
    ),
    url_prefix="/emails/templates",
)


class TemplateForm(EditForm):
    """The sources of a template, and the customer as whom the preview shows it."""

    typed_customer = ""

    language = HiddenField(default="")
    subject = StringField(
        lazy_text("Subject line"), render_kw={"maxlength": own_templates.MAX_SUBJECT}
    )
    html = TextAreaField(lazy_text("HTML"))
    text = TextAreaField(lazy_text("Text"))

    def template(self) -> own_templates.OwnTemplate:
        given = (str(self[part.value].data or "") for part in own_templates.TemplatePart)
        return own_templates.OwnTemplate.entered(*given)


@blueprint.get("/")
def index() -> BaseResponse:
    """List the emails, each with the template that is used for it."""
    entries = mail_templates.list_templates(ports(), actor())
    faults = ports().own_templates.faults()
    shows_last = can_call(actor(), last_mails)
    last = last_mails(ports(), actor()) if shows_last else {}
    return page(
        "mail_templates/index.html",
        shows_last=shows_last,
        last_label=mail_message(translatable("Last sent"), translatable("Last written to a file")),
        **make_template_list(entries, faults, last),
    )


@blueprint.get("/<slug:kind>")
def edit(kind: str) -> BaseResponse:
    """Show the editor, with what was entered before or with a version of the URL."""
    of = _kind(kind)
    entered = entered_before()
    if entered is not None:
        return _editor(of, _form(entered), key=request.args["entered"])
    details = _wanted(of)
    language = request.args.get("language", "")
    in_use = (
        mail_templates.show_template(ports(), actor(), of, language)
        if details.version
        else details
    )
    if in_use is None:
        abort(404)
    form = TemplateForm(formdata=None, data={**_sources(details), "language": language})
    form.load(TemplateForm.showing(_sources(in_use)), _sources(in_use))
    return _editor(of, form, details)


@blueprint.post("/<slug:kind>/preview")
def preview(kind: str) -> BaseResponse:
    """Check the template, and show it with sample values; nothing is saved."""
    of, form = _kind(kind), _form()
    try:
        mail_templates.preview_template(ports(), actor(), of, _language(form), form.template())
    except Refused as refused:
        return _refused(of, form, refused)
    return redirect_with_entered(entered_fields(), "console.mail_templates.edit", kind=kind)


@blueprint.get("/<slug:kind>/html")
def framed(kind: str) -> BaseResponse:
    """Show the email of the preview, for the frame."""
    require(Permission.MANAGE_SETTINGS)
    of, entered, reader = _kind(kind), entered_before(), None
    if entered is not None:
        form = _form(entered)
        language, template = _language(form), form.template()
        reader = mail_previews.sample_reader(mail_previews.search_reader(of, form.typed_customer))
    elif "entered" in request.args:
        abort(404)
    else:
        language, template = request.args.get("language", ""), _wanted(of).template
    mail = mail_templates.preview_template(ports(), actor(), of, language, template, reader)
    return mail_previews.framed_email(mail.html, mail.logo)


@blueprint.post("/<slug:kind>/check/<slug:part>")
def check(kind: str, part: str) -> Response:
    """Check one source for the editor: marks by line, and a message."""
    of, form = _kind(kind), _form()
    problems = [
        problem
        for problem in mail_templates.check_template(ports(), actor(), of, form.template())
        if problem.field == part
    ]
    marks = [
        {"line": line, "message": problem_text(problem)}
        for problem in problems
        for line in problem.lines
    ]
    return jsonify(
        marks=marks,
        message=" ".join(problem_text(mail_previews.with_lines(one)) for one in problems),
    )


@blueprint.post("/<slug:kind>/test")
def send_test(kind: str) -> BaseResponse:
    """Send the edited email to the caller; nothing is saved."""
    of, form = _kind(kind), _form()
    try:
        email = mail_templates.send_test_template(
            ports(), actor(), of, _language(form), form.template()
        )
    except Refused as refused:
        return _refused(of, form, refused)
    flash(mail_previews.sent_test_message(email, is_sent=sends_mail(ports(), actor())), "ok")
    return redirect_with_entered(entered_fields(), "console.mail_templates.edit", kind=kind)


@blueprint.post("/<slug:kind>/save")
def save(kind: str) -> BaseResponse:
    """Save the template as a new version, which is used from now on."""
    of, language = _kind(kind), _shipped_language(request.form.get("language", ""))
    details = mail_templates.show_template(ports(), actor(), of, language)
    if details is None:
        abort(404)
    in_use = next((one.version for one in details.versions if one.is_current), 0)
    form = TemplateForm.from_request(_sources(details), _edited_thing(of, language))
    if form.is_continued:
        return _editor(of, form)
    try:
        version = mail_templates.save_template(
            ports(), actor(), of, language, form.template(), based_on=in_use
        )
    except Refused as refused:
        return _refused(of, form, refused)
    message = text(
        "Saved version {version} of “{name}”. New emails use it.",
        version=version,
        name=template_title(of, language),
    )
    return redirect_with_success(
        message, "console.mail_templates.edit", kind=kind, language=language or None
    )


@blueprint.post("/<slug:kind>/reset")
def reset(kind: str) -> BaseResponse:
    """Stop using a template; the versions stay."""
    of, language = _kind(kind), _shipped_language(request.form.get("language", ""))
    mail_templates.reset_template(ports(), actor(), of, language)
    readers = text("Readers get the default email in their language.")
    if language:
        entries = mail_templates.list_templates(ports(), actor())
        default = show_default_language(ports(), actor())
        readers = mail_previews.readers_sentence(of, language, entries, default)
    message = text(
        "Your template “{name}” isn't used anymore. {readers} Your versions are kept.",
        name=template_title(of, language),
        readers=readers,
    )
    return redirect_with_success(
        message, "console.mail_templates.edit", kind=kind, language=language or None
    )


def _wanted(kind: MailKind) -> mail_templates.TemplateDetails:
    """Return the template of the URL: that of its language, in its version if it names one."""
    language = _shipped_language(request.args.get("language", ""))
    wanted = request.args.get("version", "0")
    version = parse_key(wanted)
    if version is None and wanted != "0":
        abort(404)
    details = mail_templates.show_template(ports(), actor(), kind, language, version or 0)
    if details is None:
        abort(404)
    return details


def _sources(details: mail_templates.TemplateDetails) -> dict[str, str]:
    return {part.value: details.template.source(part) for part in own_templates.TemplatePart}


def _edited_thing(kind: MailKind, language: str) -> EditedThing:
    subject = f"{language}/{kind.value}" if language else kind.value
    name = template_title(kind, language)
    return EditedThing(name, _address(kind, language), "MailTemplate", subject)


def _address(kind: MailKind, language: str, version: int = 0) -> str:
    return url_for(
        "console.mail_templates.edit",
        kind=kind.value,
        language=language or None,
        version=version or None,
    )


def _kind(kind: str) -> MailKind:
    if kind not in {*MailKind}:
        abort(404)
    return MailKind(kind)


def _shipped_language(language: str) -> str:
    if language and language not in SHIPPED_LANGUAGES:
        abort(404)
    return language


def _language(form: TemplateForm) -> str:
    return _shipped_language(str(form.language.data or ""))


def _form(entered: Entered | None = None) -> TemplateForm:
    form = TemplateForm(
        **({"formdata": entered, "meta": {"csrf": False}} if entered is not None else {})
    )
    form.typed_customer = mail_previews.typed_customer(
        request.form if entered is None else entered
    )
    return form


def _refused(kind: MailKind, form: TemplateForm, refused: Refused) -> BaseResponse:
    refused_lines = Refused(*map(mail_previews.with_lines, refused.problems))
    form.refuse(refused_lines)
    return _editor(
        kind,
        form,
        marks=mail_previews.invalid_lines(refused.problems),
        preview=mail_previews.refused_preview(refused_lines),
        is_refused=True,
    )


def _editor(
    kind: MailKind,
    form: TemplateForm,
    details: mail_templates.TemplateDetails | None = None,
    *,
    marks: dict[str, set[int]] | None = None,
    preview: mail_previews.MailPreview | None = None,
    key: str = "",
    is_refused: bool = False,
) -> BaseResponse:
    language = _language(form)
    found = details or mail_templates.show_template(ports(), actor(), kind, language)
    if found is None:
        abort(404)
    entries = mail_templates.list_templates(ports(), actor())
    if preview is None:
        version = found.version if found is details else 0
        reader = mail_previews.search_reader(kind, form.typed_customer)
        preview = _preview(
            kind, language, form.template(), key, version, mail_previews.sample_reader(reader)
        )
        preview = mail_previews.for_reader(
            preview, reader, kind, language, entries, found.default_language
        )
    values = {
        **_template_values(kind, language, found, entries),
        "form": form,
        "marks": marks or {},
        "preview": preview,
        "groups": make_template_groups(entries),
        "shows_customers": mail_previews.can_preview_as(kind),
    }
    show = refused_page if is_refused else page
    return mail_previews.with_frame(show("mail_templates/edit.html", **values))


def _preview(
    kind: MailKind,
    language: str,
    template: own_templates.OwnTemplate,
    key: str,
    version: int,
    reader: mail_templates.SampleReader | None,
) -> mail_previews.MailPreview:
    """Return the email that the editor shows: what was entered under ``key``, or a version."""
    try:
        mail = mail_templates.preview_template(ports(), actor(), kind, language, template, reader)
    except Refused as refused:
        return mail_previews.refused_preview(
            Refused(*map(mail_previews.with_lines, refused.problems))
        )
    place = {"entered": key} if key else {"language": language or None, "version": version or None}
    frame = url_for("console.mail_templates.framed", kind=kind.value, **place)
    return mail_previews.make_mail_preview(mail, frame)
