"""Every mail is whole in every language, with dates and durations as people write them there."""

from datetime import UTC, datetime

import pytest

from app.adapters.mail.email_templates import JinjaEmailTemplates
from app.domain.mails.mail import MailKind, RenderedMail
from app.domain.mails.values import sample_mail
from tests.builders.shop import shop_settings
from tests.fixtures.cases import cases
from translations.catalogues import PLACES, TRANSLATED, read

NOW = datetime(2026, 3, 1, 8, 30, tzinfo=UTC)
RECIPIENT = "ann@example.com"


def rendered(kind: MailKind, language: str) -> RenderedMail:
    mail = sample_mail(kind, RECIPIENT, "https://shop.example.com", NOW, language)
    return JinjaEmailTemplates().render(mail, shop_settings(name="Northlight"))


def english_pieces(language: str) -> set[str]:
    """Return what stands between the values of sentences: it is in no other language."""
    return {
        piece.strip()
        for message in read(language)
        for english in [str(message.id)]
        for piece in PLACES.sub("\0", english).split("\0")
        if len(piece.split()) > 2
    }


@pytest.mark.first
@pytest.mark.one_of("language")
@pytest.mark.parametrize("language", TRANSLATED)
def test_no_mail_has_a_word_of_english_left(language: str) -> None:
    pieces = english_pieces(language)
    for kind in MailKind:
        mail = rendered(kind, language.upper())
        for part in (mail.subject, mail.text, mail.html):
            assert [piece for piece in pieces if piece in part] == [], kind


def test_english_is_found_in_a_mail_in_english() -> None:
    mail = rendered(MailKind.PASSWORD_RESET, "EN")
    assert [piece for piece in english_pieces("de") if piece in mail.text]


@cases(
    ("language", "subject", "lifetime"),
    [
        ("DE", "Setzen Sie Ihr Passwort für Northlight zurück", "der Link gilt 1 Stunde."),
        ("DE_AT", "Setzen Sie Ihr Passwort für Northlight zurück", "der Link gilt 1 Stunde."),
        ("FR", "Réinitialisez votre mot de passe pour Northlight", "un délai de 1 heure."),
        ("ES", "Restablece tu contraseña de Northlight", "un plazo de 1 hora."),
        ("PL", "Zresetuj hasło do sklepu Northlight", "Czas na wybór: 1 godzina."),
        ("AR", "أعد تعيين كلمة مرورك في Northlight", "خلال ساعة."),
    ],
)
def test_reset_is_in_the_language(language: str, subject: str, lifetime: str) -> None:
    mail = rendered(MailKind.PASSWORD_RESET, language)
    assert mail.subject == subject
    assert lifetime in " ".join(mail.text.split())
    direction = "rtl" if language == "AR" else "ltr"
    assert f'<html lang="{language[:2].lower()}" dir="{direction}"' in mail.html


@cases(
    ("language", "when"),
    [
        ("DE", "Zeitpunkt: 1. März 2026, 08:30 UTC"),
        ("FR", "Date : 1 mars 2026, 08:30 TU"),
        ("ES", "Fecha: 1 de marzo de 2026, 8:30 UTC"),
        ("PL", "Kiedy: 1 marca 2026, 08:30 UTC"),
    ],
)
def test_moment_is_written_as_in_the_language(language: str, when: str) -> None:
    assert when in rendered(MailKind.PASSWORD_CHANGED, language).text
