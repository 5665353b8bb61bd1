"""The shop's own email templates: list, preview, save and try them, and go back to the default.

A template of the console replaces one of the folder ``MAIL_TEMPLATES``, which replaces Latchkey's.
One for a language replaces one for all languages, which is in the shop's default language: so are
the values in it, whatever language its reader has.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, func, select, update
from sqlalchemy.orm import Session

from app import models
from app.domain.accounts.languages import SHIPPED_LANGUAGES, shipped_tag
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import Mail, MailKind, RenderedMail
from app.domain.mails.mail_log import error_problem, kind_label
from app.domain.mails.own_templates import KEPT_VERSIONS, OwnTemplate, UrlRule
from app.domain.mails.values import sample_mail
from app.domain.shop.setting_table import SettingGroup, given_values
from app.domain.shop.settings import ShopSettings, ShopUpdate
from app.domain.values.errors import Problem, Refused, refuse_any
from app.ports import Ports
from app.ports.database import SHOP
from app.ports.mail import MailUndeliverable, OwnTemplateBroken
from app.services.accounts.email_links import redirect_refusal
from app.services.audit.log import Change, record
from app.services.authorization.register import building_block, fresh_proof, requires_person
from app.services.outbox.base_url import base_url_in
from app.services.shop.settings import read_logo, settings_of
from app.services.sign_in.reauthentication import own_id

_template = models.MailTemplate
_FAULT_LENGTH = 512
_SAMPLE_EMAIL = "ann@example.com"


@dataclass(frozen=True, slots=True)
class SampleReader:
    """A person as whom an email is previewed; ``language_code`` is such as "DE_AT"."""

    email: str
    language_code: str


@dataclass(frozen=True, slots=True)
class TemplateVersion:
    """A saved version, without its sources."""

    version: int
    is_current: bool
    saved_at: datetime
    saved_by: str


@dataclass(frozen=True, slots=True)
class TemplateEntry:
    """A template in use for ``kind`` and a language, "" for all; ``version`` 0 if in the folder.

    ``fault`` is why Latchkey's is sent instead, ``None`` if it isn't.
    """

    kind: MailKind
    language_code: str
    version: int
    saved_at: datetime | None
    saved_by: str
    fault: Problem | None


@dataclass(frozen=True, slots=True)
class TemplateDetails:
    """What the editor begins with: the current ``version``, or 0 and the default's sources.

    ``default_language`` is the shop's.
    """

    version: int
    template: OwnTemplate
    versions: tuple[TemplateVersion, ...]
    fault: Problem | None
    default_language: str


@requires_person(Permission.MANAGE_SETTINGS)
def list_templates(ports: Ports, actor: Actor) -> tuple[TemplateEntry, ...]:
    """Return the templates in use, by kind and language; those of the console before others."""
    with ports.database.reading() as session:
        stored = session.scalars(
            select(_template)
            .where(_template.is_current)
            .order_by(_template.kind, _template.language_code)
        ).all()
        entries = [_entry(ports, row) for row in stored if row.kind in {*MailKind}]
    seen = {(entry.kind, entry.language_code) for entry in entries}
    faults = {(fault.kind, fault.language_code): fault for fault in ports.own_templates.faults()}
    for kind, language in ports.own_templates.listed():
        if (kind, language) not in seen:
            fault = faults.get((kind, language))
            problem = fault.problem if fault else None
            entries.append(TemplateEntry(kind, language, 0, None, "", problem))
    return tuple(entries)


@requires_person(Permission.MANAGE_SETTINGS)
def show_template(
    ports: Ports, actor: Actor, kind: MailKind, language: str, version: int = 0
) -> TemplateDetails | None:
    """Return a template's sources and versions; ``version`` 0 is the one in use.

    Without one in use, the sources are those of the folder or Latchkey's. ``None`` if there is no
    such version.
    """
    with ports.database.reading() as session:
        found = session.execute(
            select(models.Shop.default_language, _template)
            .outerjoin(_template, and_(*_is_template(kind, language)))
            .where(models.Shop.id == models.SHOP_ID)
            .order_by(_template.version.desc())
        ).all()
        default_language = found[0].default_language
        rows = list(filter(None, (row for _, row in found)))
        versions = tuple(
            TemplateVersion(row.version, row.is_current, row.saved_at, row.saved_by)
            for row in rows
        )
        chosen = [row for row in rows if (row.version == version if version else row.is_current)]
        if chosen:
            row = chosen[0]
            return TemplateDetails(
                row.version, _sources(row), versions, _fault(ports, row), default_language
            )
    if version:
        return None
    fault = None
    try:
        _, template = _in_folder(ports, kind, language)
    except OwnTemplateBroken as broken:
        template, fault = None, broken.problem
    if template is None:
        template = ports.email_templates.starter(kind, language or default_language)
    return TemplateDetails(0, template, versions, fault, default_language)


@requires_person(Permission.MANAGE_SETTINGS)
def check_template(
    ports: Ports, actor: Actor, kind: MailKind, template: OwnTemplate
) -> tuple[Problem, ...]:
    """Return what is wrong with a template that is being edited."""
    return ports.own_templates.check(kind, template, _url_rule(ports))


@requires_person(Permission.MANAGE_SETTINGS)
def preview_template(
    ports: Ports,
    actor: Actor,
    kind: MailKind,
    language: str,
    template: OwnTemplate,
    reader: SampleReader | None = None,
) -> RenderedMail:
    """Return the email with sample values; refuses INVALID as ``save_template`` does.

    It is to ``reader``, with dates as in their country if the template is in their language.
    Without one, it is to the caller.
    """
    if language and language not in SHIPPED_LANGUAGES:
        raise Refused(Problem("INVALID", "Unknown language.", "languageCode"))
    refuse_any(*ports.own_templates.check(kind, template, _url_rule(ports)))
    with ports.database.reading() as session:
        stored = session.get_one(
            models.Shop, models.SHOP_ID
        )  # a name keeps it for what asks again
        shop = settings_of(stored)
        logo = read_logo(session, shop.logo)
        mail = _sample_of(ports, actor, session, kind, language, reader)
    mail = _in_language_of(mail, language, shop)
    try:
        return ports.email_templates.render(mail, shop, logo, template)
    except OwnTemplateBroken as broken:
        raise Refused(broken.problem) from None


@fresh_proof("You're about to change an email that people receive.")
@requires_person(Permission.MANAGE_SETTINGS)
def save_template(
    ports: Ports,
    actor: Actor,
    kind: MailKind,
    language: str,
    template: OwnTemplate,
    *,
    based_on: int,
) -> int:
    """Save ``template`` as a new version and use it; return the version's number.

    ``based_on`` is the version that was edited, 0 for the default: INVALID if another one is in
    use by now. Refuses INVALID and REQUIRED on ``subject``, ``html`` and ``text``, with lines, for
    what a template can't do; INVALID on ``languageCode`` for an unknown one.
    """
    preview_template(ports, actor, kind, language, template)
    with ports.database.transaction(SHOP) as session:
        # Two who save at the same time take turns.
        session.get_one(models.Shop, models.SHOP_ID, with_for_update=True)
        versions = select(_template).where(*_is_template(kind, language))
        rows = session.scalars(versions.order_by(_template.version.desc())).all()
        current = next((row.version for row in rows if row.is_current), 0)
        if current != based_on:
            raise Refused(_changed_meanwhile(current))
        version = rows[0].version + 1 if rows else 1
        _leave(session, kind, language)
        session.add(
            models.MailTemplate(
                kind=kind.value,
                language_code=language,
                version=version,
                is_current=True,
                subject=template.subject,
                html=template.html,
                text=template.text,
                saved_at=ports.clock.now(),
                saved_by=actor.name or actor.kind.value,
            )
        )
        session.execute(
            delete(_template).where(
                *_is_template(kind, language), _template.version <= version - KEPT_VERSIONS
            )
        )
        _record(ports, actor, session, "mail_template.save", (kind, language, current, version))
    return version


@requires_person(Permission.MANAGE_SETTINGS)
def reset_template(ports: Ports, actor: Actor, kind: MailKind, language: str) -> bool:
    """Go back to the default; earlier versions stay. Return whether a template was in use."""
    with ports.database.transaction(SHOP) as session:
        session.get_one(models.Shop, models.SHOP_ID, with_for_update=True)
        current = session.scalar(
            select(_template.version).where(*_is_template(kind, language), _template.is_current)
        )
        if current is None:
            return False
        _leave(session, kind, language)
        _record(ports, actor, session, "mail_template.reset", (kind, language, current, 0))
    return True


@building_block
def render_mail(ports: Ports, mail: Mail, design: ShopUpdate | None = None) -> RenderedMail:
    """Return ``mail`` by the shop's template for it, else by the one that comes with Latchkey.

    ``design`` are settings that aren't saved. A template that can't be rendered is left alone:
    Latchkey's is sent, and the fault is noted.
    """
    language = mail.language_code.partition("_")[0] or "EN"
    with ports.database.reading() as session:
        shop = _with_design(settings_of(session.get_one(models.Shop, models.SHOP_ID)), design)
        logo = read_logo(session, shop.logo)
        stored = session.scalars(
            select(_template)
            .where(
                _template.kind == mail.kind.value,
                _template.is_current,
                _template.language_code.in_((language, "")),
            )
            .order_by(_template.language_code.desc())
            .limit(1)
        ).one_or_none()
        own = None if stored is None else (stored.id, _sources(stored), stored.fault)
        written_in = "" if stored is None else stored.language_code
    try:
        if own is None:
            written_in, template = _in_folder(ports, mail.kind, language)
        else:
            template = own[1]
        by = mail if template is None else _in_language_of(mail, written_in, shop)
        rendered = ports.email_templates.render(by, shop, logo, template)
    except OwnTemplateBroken as broken:
        if own is not None and not own[2]:
            _store_fault(ports, own[0], described(broken.problem))
        return ports.email_templates.render(mail, shop, logo)
    if own is not None and own[2]:
        _store_fault(ports, own[0], "")
    return rendered


@building_block
def template_fault_count() -> Select[int]:
    """Return the query for how many templates of the console couldn't be rendered."""
    return (
        select(func.count())
        .select_from(_template)
        .where(_template.is_current, _template.fault != "")
    )


@building_block
def broken_templates(ports: Ports) -> tuple[tuple[str, str], ...]:
    """Check every template in use; return the broken ones with what is wrong."""
    with ports.database.reading() as session:
        rows = session.scalars(select(_template).where(_template.is_current)).all()
        stored = [(row.kind, row.language_code, _sources(row)) for row in rows]
    broken = []
    for kind, language, template in stored:
        if kind not in {*MailKind}:
            continue
        problems = ports.own_templates.check(MailKind(kind), template, _url_rule(ports))
        if problems:
            broken.append((template_name(MailKind(kind), language), described(problems[0])))
    return tuple(broken)


@building_block
def template_name(kind: MailKind, language: str) -> str:
    """Return what a template is called: "Password reset (Deutsch)"."""
    label = kind_label(kind.value)
    return f"{label} ({SHIPPED_LANGUAGES.get(language, language)})" if language else label


def _in_folder(ports: Ports, kind: MailKind, language: str) -> tuple[str, OwnTemplate | None]:
    """Return the folder's template and its language, "" for all; ``None`` without one.

    Raises ``OwnTemplateBroken`` for one that can't be read.
    """
    for code in dict.fromkeys((language, "")):
        template = ports.own_templates.find(kind, code)
        if template is not None:
            return code, template
    return "", None


def _in_language_of(mail: Mail, written_in: str, shop: ShopSettings) -> Mail:
    """Return ``mail`` with its values in the language of a template, "" for all languages.

    A template for a language keeps its reader's country, by which dates are written.
    """
    if written_in:
        return mail
    default = shop.default_language if shipped_tag(shop.default_language) else ""
    return replace(mail, language_code=default)


@building_block
def template_for(
    entries: Iterable[TemplateEntry], kind: MailKind, language: str
) -> TemplateEntry | None:
    """Return the one of ``entries`` that readers of ``language`` get; ``None`` for the default."""
    of_kind = [entry for entry in entries if entry.kind is kind]
    found = {(entry.version > 0, entry.language_code): entry for entry in of_kind}
    places = ((True, language), (True, ""), (False, language), (False, ""))
    entry = next((found[place] for place in places if place in found), None)
    return None if entry is None or entry.fault else entry


@building_block
def described(problem: Problem) -> str:
    """Return what is wrong with a template, with its part and line: "html, line 3: …"."""
    if problem.field is None:
        return problem.message
    line = problem.lines[0] if problem.lines else 1
    return f"{problem.field}, line {line}: {problem.message}"


def _store_fault(ports: Ports, template_id: int, fault: str) -> None:
    noted = update(_template).where(_template.id == template_id)
    with ports.database.transaction() as session:
        session.execute(noted.values(fault=fault[:_FAULT_LENGTH]))


def _url_rule(ports: Ports) -> UrlRule:
    return partial(redirect_refusal, ports)


def _sample_of(
    ports: Ports,
    actor: Actor,
    session: Session,
    kind: MailKind,
    language: str,
    reader: SampleReader | None = None,
) -> Mail:
    """Return an email with sample values, to ``reader``, else to the caller's account if any."""
    if reader is not None:
        email = reader.email
        if reader.language_code.partition("_")[0] == language:
            language = reader.language_code
    else:
        found = session.get(models.User, actor.user_id or 0)
        email = _SAMPLE_EMAIL if found is None else found.email
    return sample_mail(kind, email, base_url_in(ports, session), ports.clock.now(), language)


def _changed_meanwhile(current: int) -> Problem:
    if not current:
        return Problem("INVALID", "Someone else restored the default. Reload the page.")
    message = "Someone else saved version {version}. Reload the page."
    return Problem("INVALID", message, values={"version": current})


def _is_template(kind: MailKind, language: str) -> tuple[ColumnElement[bool], ...]:
    return (_template.kind == kind.value, _template.language_code == language)


def _leave(session: Session, kind: MailKind, language: str) -> None:
    session.execute(
        update(_template).where(*_is_template(kind, language)).values(is_current=False)
    )


def _sources(row: models.MailTemplate) -> OwnTemplate:
    return OwnTemplate(row.subject, row.html, row.text)


def _entry(ports: Ports, row: models.MailTemplate) -> TemplateEntry:
    return TemplateEntry(
        MailKind(row.kind),
        row.language_code,
        row.version,
        row.saved_at,
        row.saved_by,
        _fault(ports, row),
    )


def _fault(ports: Ports, row: models.MailTemplate) -> Problem | None:
    """Return why an email couldn't be rendered by the template: what is wrong with it now."""
    if not row.fault:
        return None
    problems = ports.own_templates.check(MailKind(row.kind), _sources(row), _url_rule(ports))
    return problems[0] if problems else Problem("INVALID", row.fault)


def _record(
    ports: Ports, actor: Actor, session: Session, action: str, of: tuple[MailKind, str, int, int]
) -> None:
    kind, language, before, after = of
    versions: list[Mapping[str, object]] = [{"version": number} for number in (before, after)]
    subject_id = f"{language}/{kind.value}" if language else kind.value
    name = template_name(kind, language)
    record(ports, actor, session, Change(action, "MailTemplate", subject_id, name, *versions))


_ID_LENGTH = 16
_NOT_SENT = Problem("INVALID", "The test email wasn't sent.", "kind")


def _with_design(shop: ShopSettings, design: ShopUpdate | None) -> ShopSettings:
    """Return ``shop`` with the look of emails in ``design``; refuse what couldn't be saved."""
    if design is None:
        return shop
    given = [
        (setting, value)
        for setting, value in given_values(design)
        if setting.group is SettingGroup.MAIL_DESIGN
    ]
    refuse_any(*(setting.problem(value) for setting, value in given))
    values: dict[str, Any] = {setting.name: value for setting, value in given}
    return replace(shop, **values)


@requires_person(Permission.MANAGE_SETTINGS)
def preview_mail(
    ports: Ports,
    actor: Actor,
    kind: MailKind,
    language_code: str,
    design: ShopUpdate | None = None,
) -> RenderedMail:
    """Return the email of ``kind`` with sample values, to the caller, as it would be sent.

    ``design`` is a look that isn't saved; refused as ``update_shop`` would refuse it.
    """
    own_id(actor)
    with ports.database.reading() as session:
        mail = _sample_of(ports, actor, session, kind, language_code)
    return render_mail(ports, mail, design)


@requires_person(Permission.MANAGE_SETTINGS)
def send_test_mail(
    ports: Ports,
    actor: Actor,
    kind: MailKind,
    language_code: str,
    design: ShopUpdate | None = None,
) -> str:
    """Send the email of ``kind`` with sample values to the caller; return their email.

    It is sent at once, so that the answer of a mail server that refuses it can be shown: INVALID.
    ``design`` is as for ``preview_mail``.
    """
    rendered = preview_mail(ports, actor, kind, language_code, design)
    return _send(ports, actor, rendered, {"kind": kind.value, "language": language_code})


@requires_person(Permission.MANAGE_SETTINGS)
def send_test_template(
    ports: Ports, actor: Actor, kind: MailKind, language_code: str, template: OwnTemplate
) -> str:
    """Send the email by a template that isn't saved to the caller; return their email.

    Refuses as ``save_template`` does, and as ``send_test_mail``.
    """
    own_id(actor)
    rendered = preview_template(ports, actor, kind, language_code, template)
    after = {"kind": kind.value, "language": language_code, "template": "edited"}
    return _send(ports, actor, rendered, after)


def _send(ports: Ports, actor: Actor, rendered: RenderedMail, after: Mapping[str, str]) -> str:
    now = ports.clock.now()
    number = f"{now:%Y%m%d%H%M%S}.test.{ports.randomness.token(_ID_LENGTH)}"
    test = replace(
        rendered, subject=f"[Test] {rendered.subject}", message_id=number, created_at=now
    )
    try:
        ports.mailer.send(test)
    except MailUndeliverable as error:
        raise Refused(_NOT_SENT, error_problem(str(error), "kind")) from None
    change = Change("mail.test", "User", own_id(actor), rendered.recipient, after=after)
    with ports.database.transaction() as session:
        record(ports, actor, session, change)
    return rendered.recipient
