"""Own email templates: saved with versions, rendered instead of ours, or left alone if broken."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select, update

from app import models
from app.adapters.mail.own_templates import JinjaOwnTemplates
from app.domain.accounts.email_links import LinkPurpose
from app.domain.authorization.actor import OPERATOR, Actor, SessionOrigin
from app.domain.authorization.permissions import Permission
from app.domain.mails.mail import Mail, MailKind, RenderedMail
from app.domain.mails.own_templates import KEPT_VERSIONS, OwnTemplate
from app.domain.mails.values import lifetime_values, sample_mail
from app.domain.shop.settings import ShopUpdate
from app.domain.values.errors import PermissionDenied, ProofRequired, Refused
from app.ports import Ports
from app.services.identity.identify import identify
from app.services.mails.mail_templates import (
    broken_templates,
    described,
    list_templates,
    preview_template,
    render_mail,
    reset_template,
    save_template,
    send_test_template,
    show_template,
    template_for,
)
from app.services.outbox.base_url import base_url
from app.services.shop.settings import update_shop
from tests.builders.app_mail import MailServer
from tests.builders.apps import make_app
from tests.builders.audit import trail
from tests.builders.mail_templates import samples
from tests.builders.people import actor_of, make_staff, visit
from tests.fixtures.cases import cases

KIND = MailKind.PASSWORD_RESET
GOOD = OwnTemplate(
    "Nouveau mot de passe chez {{ shop.name }}",
    '<p>Bonjour {{ recipient }}, <a href="{{ link }}">choisir</a></p>',
    "Bonjour\n\n{{ link }}\n",
)
LINK = "https://shop.example.com/reset?email=a%40b.example&token=sesame"
MAIL = Mail(KIND, "ann@example.com", {"link": LINK, "lifetime": "1 hour"})


def manager(ports: Ports) -> Actor:
    staff = make_staff(ports, "manager@example.com", Permission.MANAGE_SETTINGS)
    return actor_of(ports, staff, SessionOrigin.PASSWORD)


def save(ports: Ports, template: OwnTemplate = GOOD, language: str = "", based_on: int = 0) -> int:
    return save_template(ports, OPERATOR, KIND, language, template, based_on=based_on)


def sent(ports: Ports, mail: Mail = MAIL) -> RenderedMail:
    return render_mail(ports, mail)


def spoil(ports: Ports, html: str) -> None:
    """Change the stored template as a former release with other rules may have left it."""
    with ports.database.transaction() as session:
        session.execute(update(models.MailTemplate).values(html=html))


def test_saved_template_replaces_ours_until_the_default_is_restored(ports: Ports) -> None:
    ours = sent(ports)
    assert save(ports) == 1
    own = sent(ports)
    assert own.subject == f"Nouveau mot de passe chez {own.sender_name}"
    assert own.text == f"Bonjour\n\n{LINK}\n"
    assert LINK.replace("&", "&amp;") in own.html
    assert "<title>Nouveau" in own.html
    assert (own.sender_name, own.recipient) == (ours.sender_name, ours.recipient)
    assert reset_template(ports, OPERATOR, KIND, "")
    assert sent(ports) == ours
    assert not reset_template(ports, OPERATOR, KIND, "")


def _first_line(mail: RenderedMail) -> str:
    return mail.text.splitlines()[0].replace("\N{NO-BREAK SPACE}", " ")


def test_email_is_in_one_language(ports: Ports) -> None:
    """Values are in the language of the template: for all languages, the shop's default."""
    body = "<p>{{ lifetime }} {{ link }}</p>"
    template = OwnTemplate("A password", body, "{{ lifetime }}\n{{ link }}")
    lifetime = lifetime_values(LinkPurpose.SET_PASSWORD)
    mails = {
        code: Mail(KIND, "ann@example.com", {"link": LINK, **lifetime}, code)
        for code in ("", "EN", "DE", "DE_AT", "FR")
    }

    def lifetimes() -> dict[str, str]:
        for code, mail in mails.items():
            tag = re.search(r'<html[^>]* lang="([a-z]+)"', sent(ports, mail).html)
            assert tag is not None, code
            expected = {"1 hour": "en", "1 Stunde": "de", "1 heure": "fr"}
            assert expected[_first_line(sent(ports, mail))] == tag[1], code
        return {code: _first_line(sent(ports, mail)) for code, mail in mails.items()}

    save(ports, template)
    assert set(lifetimes().values()) == {"1 hour"}
    update_shop(ports, OPERATOR, ShopUpdate(default_language="FR"))
    assert set(lifetimes().values()) == {"1 heure"}
    save(ports, template, "DE")
    hours = {"DE": "1 Stunde", "DE_AT": "1 Stunde"}
    assert lifetimes() == {"": "1 heure", "EN": "1 heure", "FR": "1 heure", **hours}
    # The preview shows the same, and the editor begins in the language in which it's sent.
    assert _first_line(preview_template(ports, OPERATOR, KIND, "", template)) == "1 heure"
    assert _first_line(preview_template(ports, OPERATOR, KIND, "DE", template)) == "1 Stunde"
    begun = show_template(ports, OPERATOR, MailKind.PASSWORD_CHANGED, "")
    assert begun is not None
    assert "mot de passe" in begun.template.text


def test_list_tells_which_template_readers_get(ports: Ports, tmp_path: Path) -> None:
    (tmp_path / "de").mkdir()
    for folder in (tmp_path, tmp_path / "de"):
        for suffix, source in (("html", GOOD.html), ("txt", f"{GOOD.subject}\n\n{GOOD.text}")):
            (folder / f"{KIND.value}.{suffix}").write_text(source)
    own = replace(ports, own_templates=JinjaOwnTemplates(str(tmp_path)))

    def used(code: str) -> tuple[int, str] | None:
        entry = template_for(list_templates(own, OPERATOR), KIND, code)
        # The rule is the one that emails are sent by.
        is_own = "Bonjour" in render_mail(own, replace(MAIL, language_code=code)).text
        assert is_own is (entry is not None), code
        return None if entry is None else (entry.version, entry.language_code)

    assert (used("DE"), used("FR")) == ((0, "DE"), (0, ""))
    save(own)
    assert (used("DE"), used("FR")) == ((1, ""), (1, ""))
    save(own, language="DE")
    assert (used("DE"), used("FR")) == ((1, "DE"), (1, ""))
    spoil(own, "<script>alert(1)</script>")
    render_mail(own, replace(MAIL, language_code="DE"))  # the fault is noted
    render_mail(own, MAIL)
    assert (used("DE"), used("FR")) == (None, None)


def test_other_kinds_stay_ours(ports: Ports) -> None:
    save(ports)
    invitation = Mail(MailKind.CUSTOMER_INVITATION, "ann@example.com", MAIL.values)
    assert "Nouveau" not in sent(ports, invitation).subject


def test_whole_page_replaces_the_layout(ports: Ports) -> None:
    page = f'<!doctype html>\n<html lang="fr"><body>{GOOD.html}</body></html>'
    save(ports, replace(GOOD, html=page))
    html = sent(ports).html
    assert html.lower().count("<html") == html.lower().count("<body") == 1
    assert 'lang="fr"' in html


def test_versions_are_kept_and_can_be_shown(ports: Ports) -> None:
    save(ports)
    assert save(ports, replace(GOOD, subject="Two"), based_on=1) == 2
    details = show_template(ports, OPERATOR, KIND, "")
    assert details is not None
    assert (details.version, details.template.subject) == (2, "Two")
    assert [(one.version, one.is_current) for one in details.versions] == [(2, True), (1, False)]
    first = show_template(ports, OPERATOR, KIND, "", 1)
    assert first is not None
    assert first.template == GOOD
    assert show_template(ports, OPERATOR, KIND, "", 3) is None
    reset_template(ports, OPERATOR, KIND, "")
    assert save(ports) == 3


@pytest.mark.first
def test_oldest_versions_are_deleted(ports: Ports) -> None:
    for based_on in range(KEPT_VERSIONS + 3):
        save(ports, based_on=based_on)
    with ports.database.reading() as session:
        versions = list(session.scalars(select(models.MailTemplate.version)))
    assert sorted(versions) == list(range(4, KEPT_VERSIONS + 4))


def test_second_of_two_editors_is_refused(ports: Ports) -> None:
    save(ports)
    with pytest.raises(Refused, match="Someone else saved version 1"):
        save(ports)
    reset_template(ports, OPERATOR, KIND, "")
    with pytest.raises(Refused, match="restored the default"):
        save(ports, based_on=1)


def test_template_of_the_language_wins_over_that_of_all_languages(ports: Ports) -> None:
    save(ports)
    save(ports, replace(GOOD, subject="English"), language="EN")
    save(ports, replace(GOOD, subject="Deutsch"), language="DE")
    assert sent(ports).subject == "English"
    reset_template(ports, OPERATOR, KIND, "EN")
    assert sent(ports).subject.startswith("Nouveau")


@cases("language", ["XX", "en", "../EN", "EN\0"])
def test_unknown_language_is_refused(ports: Ports, language: str) -> None:
    with pytest.raises(Refused, match="Unknown language"):
        save(ports, language=language)


@cases(
    ("part", "source"),
    [
        ("html", GOOD.html + "{{ link.__class__ }}"),
        ("html", GOOD.html + '<a href="https://evil.example/">a</a>'),
        ("text", GOOD.text + "{% include 'a' %}"),
        ("subject", "{{ link }}"),
        ("subject", ""),
    ],
)
def test_attack_is_refused_when_saved_and_previewed(ports: Ports, part: str, source: str) -> None:
    template = replace(GOOD, **{part: source})
    for refused_call in (
        lambda: save(ports, template),
        lambda: preview_template(ports, OPERATOR, KIND, "", template),
    ):
        with pytest.raises(Refused) as refused:
            refused_call()
        assert {problem.field for problem in refused.value.problems} == {part}
        assert refused.value.problems[0].lines
    assert list_templates(ports, OPERATOR) == ()


def test_links_lead_to_allowed_hosts(ports: Ports) -> None:
    template = replace(GOOD, html=GOOD.html + '<a href="https://blog.example.com/">Blog</a>')
    with pytest.raises(Refused, match=r"blog\.example\.com isn't listed in ALLOWED_CLIENT_HOSTS"):
        save(ports, template)
    allowed = replace(ports.configuration, allowed_client_hosts=("*.example.com",))
    assert save(replace(ports, configuration=allowed), template) == 1


def test_broken_template_falls_back_to_ours_and_says_so(ports: Ports) -> None:
    ours = sent(ports)
    save(ports)
    spoil(ports, GOOD.html + "{{ gone }}")
    assert sent(ports) == ours
    (entry,) = list_templates(ports, OPERATOR)
    assert entry.fault is not None
    said = described(entry.fault)
    assert said == "html, line 1: There is no value gone in this email."
    assert broken_templates(ports) == (("Password reset", said),)
    spoil(ports, GOOD.html)
    assert sent(ports) != ours
    assert list_templates(ports, OPERATOR)[0].fault is None
    assert broken_templates(ports) == ()


def test_new_version_has_no_fault(ports: Ports) -> None:
    save(ports)
    spoil(ports, "{{ gone }}")
    sent(ports)
    save(ports, based_on=1)
    assert list_templates(ports, OPERATOR)[0].fault is None


def test_preview_shows_samples_without_saving(ports: Ports) -> None:
    preview = preview_template(ports, OPERATOR, KIND, "", GOOD)
    assert "/?token=sample-" in preview.text
    assert list_templates(ports, OPERATOR) == ()


def test_only_people_who_manage_settings_edit_templates(ports: Ports) -> None:
    _, token = make_app(ports, "Mailer", Permission.MANAGE_SETTINGS)
    app = identify(ports, visit(token)).actor
    staff = actor_of(
        ports, make_staff(ports, "staff@example.com", Permission.MANAGE_APPS), SessionOrigin.OIDC
    )
    for actor in (app, staff):
        with pytest.raises(PermissionDenied):
            save_template(ports, actor, KIND, "", GOOD, based_on=0)
        with pytest.raises(PermissionDenied):
            reset_template(ports, actor, KIND, "")
        with pytest.raises(PermissionDenied):
            show_template(ports, actor, KIND, "")
        with pytest.raises(PermissionDenied):
            list_templates(ports, actor)
        with pytest.raises(PermissionDenied):
            preview_template(ports, actor, KIND, "", GOOD)
    assert save_template(ports, manager(ports), KIND, "", GOOD, based_on=0) == 1


def test_test_is_sent_by_the_edited_template_to_the_caller_alone(ports: Ports) -> None:
    mailer = MailServer()
    sending = replace(ports, mailer=mailer)
    caller = manager(ports)
    assert send_test_template(sending, caller, KIND, "DE", GOOD) == "manager@example.com"
    [mail] = mailer.sent
    assert mail.recipient == "manager@example.com"
    assert mail.subject.startswith("[Test] Nouveau mot de passe")
    assert "Bonjour manager@example.com" in mail.html
    assert list_templates(ports, OPERATOR) == ()
    bad = replace(GOOD, html="<p>{{ gone }}</p>")
    with pytest.raises(Refused, match="no value gone"):
        send_test_template(sending, caller, KIND, "", bad)
    _, token = make_app(ports, "Mailer", Permission.MANAGE_SETTINGS)
    other = actor_of(ports, make_staff(ports, "other@example.com"))
    for actor in (OPERATOR, identify(ports, visit(token)).actor, other):
        with pytest.raises(PermissionDenied):
            send_test_template(sending, actor, KIND, "", GOOD)
    assert len(mailer.sent) == 1


def test_preview_is_in_the_language_of_the_template(ports: Ports) -> None:
    template = replace(GOOD, text="{{ lifetime }}\n\n{{ link }}\n")
    assert _first_line(preview_template(ports, OPERATOR, KIND, "DE", template)) == "1 Stunde"
    assert preview_template(ports, OPERATOR, KIND, "", template).text.startswith("1 hour")


def test_saving_needs_a_fresh_proof(ports: Ports) -> None:
    old = replace(manager(ports), proof_is_old=True)
    with pytest.raises(ProofRequired):
        save_template(ports, old, KIND, "", GOOD, based_on=0)
    assert preview_template(ports, old, KIND, "", GOOD).subject.startswith("Nouveau")


def test_changes_are_in_the_audit_log(ports: Ports) -> None:
    save(ports)
    save(ports, language="DE")
    reset_template(ports, OPERATOR, KIND, "DE")
    entries = [*trail(ports, "mail_template.save"), *trail(ports, "mail_template.reset")]
    assert [
        (entry.action, entry.subject_name, entry.before, entry.after) for entry in entries
    ] == [
        ("mail_template.save", "Password reset", {"version": 0}, {"version": 1}),
        ("mail_template.save", "Password reset (Deutsch)", {"version": 0}, {"version": 1}),
        ("mail_template.reset", "Password reset (Deutsch)", {"version": 1}, {"version": 0}),
    ]


EMPTY = ("not_me", "inviter", "since", "device", "address")


def shown(mail: RenderedMail) -> tuple[list[str], list[str]]:
    """Return the words of both parts."""
    words = re.sub(r"<style.*?</style>|<head>.*?</head>", "", mail.html, flags=re.DOTALL)
    return mail.text.split(), re.sub(r"<(?!br)[^>]*>", " ", words).split()


@pytest.mark.first
@cases("kind", list(MailKind))
def test_editor_begins_with_our_email(ports: Ports, kind: MailKind) -> None:
    details = show_template(ports, OPERATOR, kind, "")
    assert details is not None
    assert details.version == 0
    ours = render_mail(
        ports, sample_mail(kind, "ann@example.com", base_url(ports), ports.clock.now())
    )
    own = preview_template(ports, OPERATOR, kind, "", details.template)
    assert own.subject == ours.subject
    assert own.text.split() == ours.text.split()
    values = samples(kind)
    empty = [name for name in EMPTY if name in values]
    mails = [Mail(kind, "ann@example.com", values | dict.fromkeys(empty, ""))]
    mails += [replace(mails[0], values=values | {name: ""}) for name in empty]
    without = [shown(render_mail(ports, mail)) for mail in mails]
    save_template(ports, OPERATOR, kind, "", details.template, based_on=0)
    assert [shown(render_mail(ports, mail)) for mail in mails] == without
    assert broken_templates(ports) == ()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def with_folder(ports: Ports, folder: Path) -> Ports:
    return replace(ports, own_templates=JinjaOwnTemplates(str(folder)))


def write(folder: Path, template: OwnTemplate = GOOD, kind: str = KIND.value) -> None:
    folder.mkdir(exist_ok=True)
    (folder / f"{kind}.txt").write_text(f"{template.subject}\n{template.text}")
    (folder / f"{kind}.html").write_text(template.html)


def test_template_of_the_folder_replaces_ours(with_folder: Ports, folder: Path) -> None:
    write(folder, replace(GOOD, html=GOOD.html + '<a href="https://blog.example/">Blog</a>'))
    assert sent(with_folder).subject.startswith("Nouveau")
    write(folder / "en", replace(GOOD, subject="English"))
    write(folder / "de", replace(GOOD, subject="Deutsch"))
    assert sent(with_folder).subject == "English"
    languages = [entry.language_code for entry in list_templates(with_folder, OPERATOR)]
    assert languages == ["", "EN", "DE"]
    details = show_template(with_folder, OPERATOR, KIND, "DE")
    assert details is not None
    assert details.template.subject == "Deutsch"
    save(with_folder, replace(GOOD, subject="Console"))
    assert sent(with_folder).subject == "Console"


@cases(
    ("name", "data", "reason"),
    [
        ("password_reset.html", b"\xff\xfe<p>", "The file isn't UTF-8."),
        ("password_reset.html", b"<p>" * 200_000, "The file is larger than 256 kB."),
        ("password_reset.html", b"{{ link.__class__ }}", "There is no value link.__class__"),
        ("password_reset.html", b"<script>", "Remove <script>"),
        (
            "password_reset.html",
            None,
            "password_reset.html is missing: an email needs both files.",
        ),
        ("password_reset.txt", b"Hello\n{% include 'a' %}", "not include"),
        ("password_reset.txt", b"", "This is required."),
    ],
)
def test_broken_file_falls_back_to_ours_and_says_so(
    ports: Ports, with_folder: Ports, folder: Path, name: str, data: bytes | None, reason: str
) -> None:
    ours = sent(ports)
    write(folder)
    assert sent(with_folder) != ours
    assert with_folder.own_templates.faults() == ()
    if data is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(data)
    assert sent(with_folder) == ours
    (fault,) = with_folder.own_templates.faults()
    assert reason in fault.problem.message
    assert fault.path == str(folder / name)
    assert list_templates(with_folder, OPERATOR)[0].fault == fault.problem
    details = show_template(with_folder, OPERATOR, KIND, "")
    assert details is not None
    assert details.fault == fault.problem


def test_misspelled_file_is_a_fault(with_folder: Ports, folder: Path) -> None:
    write(folder, kind="pasword_reset")
    assert [Path(fault.path).name for fault in with_folder.own_templates.faults()] == [
        "pasword_reset.html",
        "pasword_reset.txt",
    ]


def test_missing_folder_is_a_fault(ports: Ports, tmp_path: Path) -> None:
    gone = JinjaOwnTemplates(str(tmp_path / "gone"))
    assert gone.find(KIND, "EN") is None
    assert "There is no such folder" in gone.faults()[0].problem.message


@pytest.mark.first
def test_stored_html_that_would_end_the_process_falls_back_to_ours(ports: Ports) -> None:
    ours = sent(ports)
    save(ports)
    spoil(ports, GOOD.html + "<b>" * 20_000)
    assert sent(ports) == ours
    listed = list_templates(ports, OPERATOR)[0].fault
    assert listed is not None
    assert "Nest at most 40 tags" in listed.message
