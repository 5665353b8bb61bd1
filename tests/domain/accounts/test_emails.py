"""Email addresses: one spelling each, and a check of their form."""

from app.domain.accounts.emails import email_problem, email_spellings, normalize_email
from tests.fixtures.cases import cases


@cases("written", ["ann@example.com", "Ann@Example.COM", "  ann@example.com\n", "ANN@EXAMPLE.COM"])
def test_spellings_of_an_ip_address_are_equal(written: str) -> None:
    assert normalize_email(written) == "ann@example.com"


@cases(
    ("written", "stored"),
    [
        ("anna@xn--bcher-kva.example", "anna@bücher.example"),
        ("ANNA@XN--BCHER-KVA.example", "anna@bücher.example"),
        ("anna@www.xn--bcher-kva.example", "anna@www.bücher.example"),
        ("anna@xn--zzzzzzzz.example", "anna@xn--zzzzzzzz.example"),
        ("anna@xn--.example", "anna@xn--.example"),
        ("xn--bcher-kva@example.com", "xn--bcher-kva@example.com"),
    ],
)
def test_punycode_is_the_same_email(written: str, stored: str) -> None:
    assert normalize_email(written) == stored
    assert normalize_email(stored) == stored


@cases(
    ("typed", "spellings"),
    [
        ("Ann@Example.com", ("ann@example.com",)),
        ("anna@bücher.example", ("anna@bücher.example", "anna@xn--bcher-kva.example")),
        ("anna@xn--bcher-kva.example", ("anna@xn--bcher-kva.example", "anna@bücher.example")),
    ],
)
def test_account_is_looked_for_as_typed_first(typed: str, spellings: tuple[str, ...]) -> None:
    assert email_spellings(typed) == spellings


def test_visually_equal_letters_fold_alike() -> None:
    assert normalize_email("cafe\u0301@example.com") == normalize_email("caf\u00e9@example.com")


@cases(
    "email",
    [
        "a@b.co",
        "first.last+tag@sub.example.com",
        "o'brien@example.com",
        "jõao@example.com",
        "ann@münchen.example",
        "ann@localhost",
        "ann@xn--mnchen-3ya.example",
        "ann@हिन्दी.example",
        normalize_email("ann@xn--j2bd4cyah0f.example"),
        f"{'a' * 64}@example.com",
        f"ann@{'a' * 63}.example",
    ],
)
def test_valid_email_is_accepted(email: str) -> None:
    assert email_problem(email) is None


@cases(
    "email",
    [
        "ann",
        "@example.com",
        "ann@",
        "ann@example",
        "ann@@example.com",
        "ann@exa mple.com",
        "ann smith@example.com",
        ".ann@example.com",
        "ann.@example.com",
        "a..b@example.com",
        "ann@-example.com",
        "ann@example-.com",
        "ann@.com",
        "ann@example..com",
        "ann@10.0.0.1",
        "ann@[10.0.0.1]",
        '"ann"@example.com',
        "Ann <ann@example.com>",
        "ann@example.com,bob@example.com",
        "ann@example.com\nBcc: bob@example.com",
        f"{'a' * 65}@example.com",
        f"ann@{'a' * 64}.com",
        f"ann@{'a.' * 130}com",
    ],
)
def test_invalid_email_is_refused_as_invalid(email: str) -> None:
    problem = email_problem(email, "newEmail")
    assert problem is not None
    assert (problem.code, problem.field) == ("INVALID", "newEmail")


def test_empty_email_is_missing() -> None:
    problem = email_problem("")
    assert problem is not None
    assert (problem.code, problem.field) == ("REQUIRED", "email")
