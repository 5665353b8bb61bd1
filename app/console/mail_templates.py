"""Email templates: the list of emails, the editor with its preview, versions, and the default."""

from functools import partial

from flask import Response, abort, flash, jsonify, request, url_for
from werkzeug.wrappers import Response as BaseResponse
from wtforms import HiddenField, IntegerField, StringField, TextAreaField

from app.console.entered_forms import Entered, entered_before, go_with_entered
from app.console.forms import ConsoleForm
from app.console.framed_emails import framed_email, with_frame
from app.console.mail_preview_page import sent_test_message
from app.console.mail_templates_page import (
    bad_lines,
    make_template_list,
    make_template_page,
    template_title,
    with_lines,
)
from app.console.navigation import Entry, Heading, PageGroup
from app.console.page_layout import done, page, refused_page
from app.console.session import actor, ports, require
from app.domain.authorization.permissions import Permission
from app.domain.mails.languages import SHIPPED_LANGUAGES
from app.domain.mails.mail import MailKind, RenderedMail
from app.domain.mails.own_templates import MAX_SUBJECT, OwnTemplate, TemplatePart
from app.domain.values.errors import Problem, Refused
from app.domain.values.ids import parse_key
from app.services.console.setup import sends_mail
from app.services.shop.mail_preview import send_test_template
from app.services.shop.mail_templates import (
    TemplateDetails,
    check_template,
    list_templates,
    preview_template,
    reset_template,
    save_template,
    show_template,
)
from app.web.translation import lazy_text, problem_text, text

blueprint = PageGroup(
    "mail_templates",
    __name__,
    Entry(
        "Email templates",
        "envelope-paper",
        "mail template invitation reset confirmation notice text html subject design",
        Heading.SHOP,
        needs=list_templates,
    ),
    url_prefix="/email-templates",
)


class TemplateForm(ConsoleForm):
    """The sources of a template; ``based_on`` is the version in use when the page was opened."""

    language = HiddenField(default="")
    based_on = IntegerField(default=0)
    subject = StringField(lazy_text("Subject line"), render_kw={"maxlength": MAX_SUBJECT})
    html = TextAreaField(lazy_text("HTML"))
    text = TextAreaField(lazy_text("Text"))

    def template(self) -> OwnTemplate:
        """Return the sources with the line ends that are stored."""
        return OwnTemplate(*(_lines(str(self[part.value].data or "")) for part in TemplatePart))


@blueprint.get("/")
def index() -> BaseResponse:
    """List the emails, each with the template that is used for it."""
    entries = list_templates(ports(), actor())
    faults = ports().own_templates.faults()
    return page("mail_templates/index.html", **make_template_list(entries, faults))


@blueprint.get("/<slug:kind>")
def edit(kind: str) -> BaseResponse:
    """Show the editor, with the preview of what was entered or with a version of the URL."""
    of = _kind(kind)
    entered = entered_before()
    if entered is not None:
        form = _form(entered)
        preview = preview_template(ports(), actor(), of, _language(form), form.template())
        return _editor(of, form, preview=preview, key=request.args["entered"])
    language = request.args.get("language", "")
    wanted = request.args.get("version", "0")
    version = parse_key(wanted)
    if version is None and wanted != "0":
        abort(404)
    details = show_template(ports(), actor(), of, _known(language), version or 0)
    if details is None:
        abort(404)
    in_use = next((one.version for one in details.versions if one.is_current), 0)
    sources = {part.value: details.template.source(part) for part in TemplatePart}
    form = TemplateForm(formdata=None, data={**sources, "language": language, "based_on": in_use})
    return _editor(of, form, details)


@blueprint.post("/<slug:kind>/preview")
def preview(kind: str) -> BaseResponse:
    """Check the template, and show it with sample values; nothing is saved."""
    of, form = _kind(kind), _form()
    try:
        preview_template(ports(), actor(), of, _language(form), form.template())
    except Refused as refused:
        return _refused(of, form, refused)
    return go_with_entered(_entered_fields(), "console.mail_templates.edit", kind=kind)


@blueprint.get("/<slug:kind>/html")
def framed(kind: str) -> BaseResponse:
    """Show the email of the preview, for the frame."""
    require(Permission.MANAGE_SETTINGS)
    of, entered = _kind(kind), entered_before()
    if entered is None:
        abort(404)
    form = _form(entered)
    mail = preview_template(ports(), actor(), of, _language(form), form.template())
    return framed_email(mail.html, mail.logo)


@blueprint.post("/<slug:kind>/check/<slug:part>")
def check(kind: str, part: str) -> Response:
    """Check one source for the editor: marks by line, and a message."""
    of, form = _kind(kind), _form()
    problems = [
        problem
        for problem in check_template(ports(), actor(), of, form.template())
        if problem.field == part
    ]
    marks = [
        {"line": line, "message": problem_text(problem)}
        for problem in problems
        for line in problem.lines
    ]
    return jsonify(marks=marks, message=" ".join(map(_with_line, problems)))


@blueprint.post("/<slug:kind>/test")
def send_test(kind: str) -> BaseResponse:
    """Send the edited email to the caller; nothing is saved."""
    of, form = _kind(kind), _form()
    try:
        email = send_test_template(ports(), actor(), of, _language(form), form.template())
    except Refused as refused:
        return _refused(of, form, refused)
    flash(sent_test_message(email, is_sent=sends_mail(ports(), actor())), "ok")
    return go_with_entered(_entered_fields(), "console.mail_templates.edit", kind=kind)


@blueprint.post("/<slug:kind>/save")
def save(kind: str) -> BaseResponse:
    """Save the template as a new version, which is used from now on."""
    of, form = _kind(kind), _form()
    based_on = form.based_on.data or 0
    language = _language(form)
    try:
        version = save_template(ports(), actor(), of, language, form.template(), based_on=based_on)
    except Refused as refused:
        return _refused(of, form, refused)
    message = text(
        "Saved version {version} of “{name}”. New emails use it.",
        version=version,
        name=template_title(of, language),
    )
    return done(message, "console.mail_templates.edit", kind=kind, language=language or None)


@blueprint.post("/<slug:kind>/reset")
def reset(kind: str) -> BaseResponse:
    """Go back to the default; the versions stay."""
    of, language = _kind(kind), _known(request.form.get("language", ""))
    reset_template(ports(), actor(), of, language)
    message = text(
        "The default is used for “{name}” again. Your versions are kept.",
        name=template_title(of, language),
    )
    return done(message, "console.mail_templates.edit", kind=kind, language=language or None)


def _entered_fields() -> list[tuple[str, str]]:
    return [(name, value) for name, value in request.form.items() if name != "csrf_token"]


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


def _known(language: str) -> str:
    if language and language not in SHIPPED_LANGUAGES:
        abort(404)
    return language


def _language(form: TemplateForm) -> str:
    return _known(str(form.language.data or ""))


def _form(entered: Entered | None = None) -> TemplateForm:
    if entered is None:
        return TemplateForm()
    return TemplateForm(formdata=entered, meta={"csrf": False})


def _refused(kind: MailKind, form: TemplateForm, refused: Refused) -> BaseResponse:
    form.refuse(Refused(*map(with_lines, refused.problems)))
    return _editor(kind, form, marks=bad_lines(refused.problems), is_refused=True)


def _editor(
    kind: MailKind,
    form: TemplateForm,
    details: TemplateDetails | None = None,
    *,
    marks: dict[str, set[int]] | None = None,
    preview: RenderedMail | None = None,
    key: str = "",
    is_refused: bool = False,
) -> BaseResponse:
    language = _language(form)
    found = details or show_template(ports(), actor(), kind, language)
    if found is None:
        abort(404)
    entries = list_templates(ports(), actor())
    frame = url_for("console.mail_templates.framed", kind=kind.value, entered=key) if key else ""
    values = {
        "template": make_template_page(kind, language, found, entries, partial(_address, kind)),
        "form": form,
        "marks": marks or {},
        "preview": preview,
        "frame": frame,
    }
    show = refused_page if is_refused else page
    return with_frame(show("mail_templates/edit.html", **values))


def _with_line(problem: Problem) -> str:
    return problem_text(with_lines(problem))


def _lines(source: str) -> str:
    return source.replace("\r\n", "\n")
