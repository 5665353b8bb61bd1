"""Signatures made with a secret, and what is read from where to check them."""

import json
from pathlib import Path

import pytest

from tests.commands.shell import run
from tests.commands.webhooks.paired_shops import Shops
from tests.commands.webhooks.verify_runner import verify
from tests.fixtures.cases import cases
from tests.servers.http import Received

STANDARD = {
    # The example of https://www.standardwebhooks.com: another library made it.
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
BODY = b'{"test": 2432232314}'


@cases(
    ("changed", "more", "code"),
    [
        ({}, (), 0),
        ({"webhook-signature": f"v1,AAAA {STANDARD['webhook-signature']}"}, (), 0),
        ({"webhook-signature": "v1,AAAA"}, (), 1),
        ({"webhook-timestamp": "1614265331"}, (), 1),
        ({"webhook-timestamp": "soon"}, (), 1),
        ({"webhook-timestamp": "9" * 5000}, ("--tolerance", "300"), 1),
        ({"webhook-timestamp": "9" * 15}, ("--tolerance", "300"), 1),
        ({"webhook-id": ""}, (), 1),
        ({}, ("--tolerance", "300"), 1),
        ({"webhook-timestamp": ""}, ("--tolerance", "300"), 1),
    ],
)
def test_standard_webhooks_are_verified_by_their_secret(
    shops: Shops, tmp_path: Path, changed: dict[str, str], more: tuple[str, ...], code: int
) -> None:
    (tmp_path / "secret").write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n")
    received = Received("POST", "/", {**STANDARD, **changed}, BODY)
    words = ("--secret-file", str(tmp_path / "secret"), *more)
    assert verify(shops, tmp_path, received, *words).exit_code == code


_RAW = [text for pair in STANDARD.items() for text in pair]


@cases(
    "headers",
    [
        json.dumps({name.title(): [value] for name, value in STANDARD.items()}),
        json.dumps(list(STANDARD.items())),
        json.dumps(_RAW),
        json.dumps([{"name": name, "value": value} for name, value in STANDARD.items()]),
        json.dumps({"method": "POST", "headers": STANDARD, "body": "{}"}),
        json.dumps(
            {f"HTTP_{name.upper().replace('-', '_')}": STANDARD[name] for name in STANDARD}
        ),
        json.dumps({**STANDARD, "webhook-signature": ["v1,AAAA", STANDARD["webhook-signature"]]}),
        "POST /hook HTTP/1.1\n" + "\n".join(f"{name}: {STANDARD[name]}" for name in STANDARD),
        "".join(f"> {name}: {value}\r\n" for name, value in STANDARD.items()),
    ],
)
@cases(("body", "code"), [(BODY, 0), (b"{}", 1)])
def test_headers_are_read_as_programs_write_them(
    shops: Shops, tmp_path: Path, headers: str, body: bytes, code: int
) -> None:
    (tmp_path / "secret").write_text("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    (tmp_path / "headers").write_text(headers)
    checked = run(
        shops.local,
        *("webhook", "verify", "-", "--headers", str(tmp_path / "headers")),
        *("--secret-file", str(tmp_path / "secret")),
        stdin=body,
        remote_access=shops.remote_access,
    )
    assert checked.exit_code == code, checked.stderr


@cases(
    ("headers", "message"),
    [
        ("", "is empty"),
        ("[]", "Headers must be lines"),
        ("no colon", "is not a header"),
        ("X-Other: 1", "No signature header found"),
        ("Latchkey-Signature: abcdef", "Use --secret-file"),
    ],
)
def test_headers_that_sign_nothing_are_a_usage_error(
    shops: Shops, tmp_path: Path, headers: str, message: str
) -> None:
    (tmp_path / "headers").write_text(headers)
    failed = run(
        shops.local,
        *("webhook", "verify", "-", "--headers", str(tmp_path / "headers")),
        stdin=BODY,
        remote_access=shops.remote_access,
    )
    assert failed.exit_code == 2
    assert message in failed.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("-", "--headers", "-"),
        ("-", "--header", "X-Any: thing", "--secret-file", "-"),
        ("body", "--headers", "-", "--secret-file", "-"),
    ],
)
def test_standard_input_is_one_of_body_headers_and_secret(
    shops: Shops, words: tuple[str, ...]
) -> None:
    failed = shops.twice("webhook", "verify", *words, stdin=BODY)
    assert failed.exit_code == 2
    assert "Standard input can provide only one of body, headers and secret." in failed.stderr


@pytest.mark.parametrize("read", ["body", "headers", "secret"])
def test_any_one_of_them_is_read_from_standard_input(
    shops: Shops, tmp_path: Path, read: str
) -> None:
    texts = {
        "body": BODY,
        "headers": json.dumps(STANDARD).encode(),
        "secret": b"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n",
    }
    named = {}
    for name, text in texts.items():
        (tmp_path / name).write_bytes(text)
        named[name] = "-" if name == read else str(tmp_path / name)
    words = (named["body"], "--headers", named["headers"], "--secret-file", named["secret"])
    assert shops.twice("webhook", "verify", *words, stdin=texts[read]).exit_code == 0
