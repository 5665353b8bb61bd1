"""Own email templates, checked."""

from datetime import UTC, datetime

from app.adapters.mail.own_templates import check_template
from app.domain.mails.mail import MailKind
from app.domain.mails.own_templates import OwnTemplate, links_of
from app.domain.mails.values import sample_mail
from app.domain.urls.redirects import redirect_problem
from app.domain.values.errors import Problem

LINK = "https://shop.example.com/reset?email=a%40b&token=se<same"
TEXT = "Hello,\n\n{{ link }}\n"
HTML = '<p>Hello {{ recipient }}, <a href="{{ link }}">choose a password</a>.</p>\n'
NOTICE = "Hello\n{% if not_me %}\n{{ not_me }}\n{% endif %}\n"


MOMENT = datetime(2026, 3, 2, 14, 3, tzinfo=UTC)


def samples(kind: MailKind) -> dict[str, str]:
    """Return the values of an email, none of them empty."""
    mail = sample_mail(kind, "ann@example.com", "https://shop.example.com", MOMENT)
    link = {name: f"https://shop.example.com/?token={name}" for name in links_of(kind)}
    return {**mail.values, **link, "recipient": mail.recipient}


def url_rule(url: str) -> Problem | None:
    return redirect_problem(url, ("shop.example.com",), development=False)


def problems(
    kind: MailKind = MailKind.PASSWORD_RESET,
    *,
    subject: str = "Reset your password",
    html: str = HTML,
    text: str = TEXT,
) -> tuple[Problem, ...]:
    return check_template(kind, OwnTemplate(subject, html, text), url_rule)


def only_problem(**sources: str) -> Problem:
    found = problems(**sources)  # type: ignore[arg-type]
    assert found, sources
    return found[0]


def notice(html: str) -> tuple[Problem, ...]:
    return problems(MailKind.PASSWORD_CHANGED, html=html, text=NOTICE)
