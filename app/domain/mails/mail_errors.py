"""Why emails weren't sent: sentences that are stored in English and shown in other languages."""

from app.domain.values.errors import Problem
from app.domain.values.text import translatable

RECIPIENT_REJECTED = translatable("The mail server rejected the recipient with {answer}.")
CHECK_SETTINGS = translatable("The mail server responded with {answer}. Check MAIL_URL.")
RESPONDED = translatable("The mail server responded with {answer}.")
UNREACHABLE = translatable("Can't connect to the mail server ({answer}).")
RECIPIENT_NOT_ASCII = translatable(
    "The mail server doesn't accept addresses with letters beyond A to Z before the @ (SMTPUTF8)."
)
SENDER_NOT_ASCII = translatable(
    "The mail server doesn't accept the sender's address: it has letters beyond A to Z before the "
    "@ (SMTPUTF8). Use another sender address."
)
NO_LOGIN = translatable(
    "The mail server doesn't offer authentication. Check the user name, port and encryption in "
    "MAIL_URL."
)
LOGIN_NOT_ASCII = translatable(
    "The user name and password in MAIL_URL can have only ASCII characters."
)
INTERNAL = translatable("Internal error: {answer}. See the log for details.")
OTHER_KEY = translatable("Its content was encrypted with another SECRET_KEY.")
SUPERSEDED = translatable("A newer link replaced the one in this email.")

_SENTENCES = (
    RECIPIENT_REJECTED,
    CHECK_SETTINGS,  # before the next one, which fits what this one makes
    RESPONDED,
    UNREACHABLE,
    RECIPIENT_NOT_ASCII,
    SENDER_NOT_ASCII,
    NO_LOGIN,
    LOGIN_NOT_ASCII,
    INTERNAL,
    OTHER_KEY,
    SUPERSEDED,
)


def error_problem(error: str, field: str | None = None) -> Problem:
    """Return a stored error as a sentence with its value; an unknown one stays as it is."""
    for sentence in _SENTENCES:
        before, _, after = sentence.partition("{answer}")
        if error == sentence:
            return Problem("INVALID", sentence, field)
        if after and error.startswith(before) and error.endswith(after):
            answer = error[len(before) : -len(after)]
            return Problem("INVALID", sentence, field, values={"answer": answer})
    return Problem("INVALID", error, field)
