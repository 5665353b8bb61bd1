"""Secrets are removed from other servers' texts in whatever encoding they come back."""

from app.domain.deliveries.redaction import redactor
from tests.fixtures.cases import cases

SECRETS = ("sesame-open", "Bearer s3cr3t/key")


@cases(
    ("text", "clean"),
    [
        ("the key is sesame-open.", "the key is (hidden)."),
        ("SESAME-OPEN", "(hidden)"),
        ("Authorization: Bearer s3cr3t/key", "Authorization: (hidden)"),
        ("credential s3cr3t/key", "credential (hidden)"),
        ("?key=s3cr3t%2Fkey&a=1", "?key=(hidden)&a=1"),
        ("nothing to see", "nothing to see"),
        ("", ""),
    ],
)
def test_secrets_are_replaced(text: str, clean: str) -> None:
    assert redactor(SECRETS)(text) == clean


def test_cut_text_loses_a_possible_beginning_of_a_secret() -> None:
    redact = redactor(("sesame-open",))
    assert redact("x" * 50 + "sesame-ope", is_cut=True).strip("x") == ""
    assert redact("x" * 50 + "sesame-ope") == "x" * 50 + "sesame-ope"


def test_short_values_are_not_redacted() -> None:
    assert redactor(("on", "1", ""))("on 1") == "on 1"
    assert redactor(())("anything", is_cut=True) == "anything"


def test_secrets_are_not_shown_by_the_redactor() -> None:
    assert "sesame" not in repr(redactor(SECRETS))
