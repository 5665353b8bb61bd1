"""The language of pages: which one is chosen, and what a sentence is in it."""

from flask import Flask, render_template_string
from flask.testing import FlaskClient
from markupsafe import Markup

from app.domain.values.errors import Problem
from app.domain.values.text import Phrase, Phrases
from app.ports.http import CallFailed, CallFault
from app.services.single_sign_on.sign_in import unavailable
from app.web.translation import (
    browser_language,
    enumeration,
    language_name,
    lazy_text,
    page_direction,
    page_language,
    person_language,
    problem_text,
    reason_text,
    text,
    use_language,
)
from tests.fixtures.cases import cases

MINUTES = "Too many attempts. Try again in {count} minute."
MANY_MINUTES = "Too many attempts. Try again in {count} minutes."


@cases(
    ("wanted", "language"),
    [
        ("de", "de"),
        ("de-AT,de;q=0.9,en;q=0.8", "de"),
        ("fr-CA,en;q=0.8", "fr"),
        ("nl,es;q=0.5", "es"),
        ("en;q=0.2,pl;q=0.9", "pl"),
        ("ar-EG", "ar"),
        ("de;q=0,fr", "fr"),
        ("nl", ""),
        ("*", ""),
        ("", ""),
    ],
)
def test_browser_asks_for_a_language(app: Flask, wanted: str, language: str) -> None:
    with app.test_request_context(headers={"Accept-Language": wanted}):
        assert browser_language() == language
        assert page_language() == language or "en"


@cases(
    ("code", "language"),
    [("DE", "de"), ("DE_AT", "de"), ("PT_BR", "en"), ("AR", "en"), ("EN", "en"), ("PL", "pl")],
)
def test_console_has_a_language_for_each_person(code: str, language: str) -> None:
    assert person_language(code) == language


@cases(
    ("language", "count", "sentence"),
    [
        ("en", 1, "Too many attempts. Try again in 1 minute."),
        ("de", 2, "Zu viele Versuche. Versuchen Sie es in 2 Minuten erneut."),
        ("pl", 2, "Zbyt wiele prób. Spróbuj ponownie za 2 minuty."),
        ("pl", 5, "Zbyt wiele prób. Spróbuj ponownie za 5 minut."),
        ("ar", 2, "محاولات كثيرة جدًا. حاول مرة أخرى بعد دقيقتين."),
    ],
)
def test_number_chooses_the_plural_of_the_language(
    app: Flask, language: str, count: int, sentence: str
) -> None:
    with app.test_request_context():
        use_language(language)
        assert text(MINUTES, MANY_MINUTES, count=count) == sentence
        problem = Problem("X", MINUTES, values={"count": count}, plural=MANY_MINUTES)
        assert problem_text(problem) == sentence
        assert problem.message.startswith("Too many attempts.")


def test_template_is_in_the_language_of_its_request(app: Flask) -> None:
    template = "{% trans %}The app is inactive.{% endtrans %}"
    for language, sentence in (
        ("de", "Die App ist inaktiv."),
        ("en", "The app is inactive."),
        ("de", "Die App ist inaktiv."),
    ):
        with app.test_request_context():
            use_language(language)
            assert render_template_string(template) == sentence


@cases(
    ("reason", "german"),
    [
        ("The app is inactive.", "Die App ist inaktiv."),
        ("Can't connect to 10.1.2.3:8080.", "Keine Verbindung zu 10.1.2.3:8080 möglich."),
        (
            "There is no payload: The key set answered with HTTP 500.",
            "Es gibt keine Nutzdaten: Der Schlüsselsatz hat mit HTTP 500 geantwortet.",
        ),
        ("quota {0} exceeded", "quota {0} exceeded"),
        ("", ""),
    ],
)
def test_stored_reason_is_shown_in_the_language(app: Flask, reason: str, german: str) -> None:
    with app.test_request_context():
        use_language("en")
        assert reason_text(reason) == reason
        use_language("de")
        assert reason_text(reason) == german


def test_values_that_are_phrases_are_translated_too(app: Flask) -> None:
    template = "There is no {what} to preview yet. Create one first."
    phrases = Phrases(["order", "cart", "order"], joint=" or ")
    problem = Problem("NOT_FOUND", template, values={"what": phrases})
    assert problem.message == "There is no order or cart to preview yet. Create one first."
    with app.test_request_context():
        use_language("de")
        assert "(Bestellung oder Warenkorb)" in problem_text(problem)
        assert text("{name} ({app})", name=Phrase("The app"), app="The app") == "Die App (The app)"


@cases(
    ("language", "items", "listed"),
    [
        ("en", [], ""),
        ("en", ["Kim"], "Kim"),
        ("en", ["Kim", "Ana"], "Kim and Ana"),
        ("en", ["Kim", "Ana", "Olga"], "Kim, Ana and Olga"),
        ("de", ["Kim", "Ana", "Olga"], "Kim, Ana und Olga"),
        ("fr", ["Kim", "Ana", "Olga"], "Kim, Ana et Olga"),
        ("es", ["Kim", "Ana", "Olga"], "Kim, Ana y Olga"),
        ("pl", ["Kim", "Ana", "Olga"], "Kim, Ana i Olga"),
        ("ar", ["أ", "ب", "ج"], "أ وب وج"),
    ],
)
def test_list_is_written_as_in_the_language(
    app: Flask, language: str, items: list[str], listed: str
) -> None:
    with app.test_request_context():
        use_language(language)
        assert enumeration(items) == listed


@cases(
    ("language", "code", "name"),
    [
        ("en", "PT_BR", "Portuguese (Brazil)"),
        ("de", "PT_BR", "Portugiesisch (Brasilien)"),
        ("pl", "NL", "niderlandzki"),
        ("de", "none", "none"),
    ],
)
def test_language_is_named_in_the_language_of_the_page(
    app: Flask, language: str, code: str, name: str
) -> None:
    with app.test_request_context():
        use_language(language)
        assert language_name(code) == name


def test_sign_in_page_says_why_the_provider_failed(app: Flask) -> None:
    failed = CallFailed(CallFault.UNREACHABLE, "Can't connect to id.example.com.")
    (problem,) = unavailable(failed).problems
    assert problem.message == (
        "The identity provider gave no usable answer. Can't connect to id.example.com."
    )
    with app.test_request_context():
        use_language("de")
        assert problem_text(problem) == (
            "Der Identitätsanbieter hat keine brauchbare Antwort gegeben. "
            "Keine Verbindung zu id.example.com möglich."
        )


def test_sentence_outside_a_request_is_english(app: Flask) -> None:
    assert text(MINUTES, MANY_MINUTES, count=2) == "Too many attempts. Try again in 2 minutes."
    with app.app_context():
        assert text("Sign in") == "Sign in"


def test_label_is_translated_when_it_is_shown(app: Flask) -> None:
    label = lazy_text("New password")
    with app.test_request_context():
        use_language("de")
        assert str(label) == "Neues Passwort"
        use_language("fr")
        assert str(label) == "Nouveau mot de passe"


def test_markup_stays_markup_and_escapes_values(app: Flask) -> None:
    with app.test_request_context():
        use_language("de")
        written = text(Markup("{factor} was added."), factor="<b>")
        assert isinstance(written, Markup)
        assert written == "&lt;b&gt; wurde hinzugefügt."
        assert text("") == ""
        assert text("No such sentence, {really}") == "No such sentence, {really}"


@cases(("language", "direction"), [("ar", "rtl"), ("de", "ltr"), ("en", "ltr")])
def test_arabic_begins_on_the_right(app: Flask, language: str, direction: str) -> None:
    with app.test_request_context(headers={"Accept-Language": language}):
        assert page_direction() == direction


def test_error_page_speaks_the_browsers_language_and_the_api_english(client: FlaskClient) -> None:
    page = client.post("/media/x", headers={"Accept": "text/html", "Accept-Language": "ar"})
    assert page.status_code in (404, 405)
    assert '<html lang="ar" dir="rtl">' in page.text
    answer = client.post("/", headers={"Accept": "application/json", "Accept-Language": "ar"})
    assert answer.get_json()["errors"][0]["message"] == (
        "The method is not allowed for the requested URL."
    )
