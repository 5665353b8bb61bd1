"""What becomes of the password hashes of another system."""

from dataclasses import replace

import pytest

from app.domain.passwords.imported_hashes import (
    ImportedPasswordState,
    UnusableHash,
    classify,
    firebase_hash,
    parse_hash,
)
from app.domain.values.text import text
from tests.fixtures.cases import cases
from tests.fixtures.foreign_hashes import (
    FIREBASE,
    FIREBASE_HASH,
    FIREBASE_PARAMETERS,
    FIREBASE_SALT,
    FOREIGN,
    ForeignHash,
)

KEY = "cla6Mw0TEQehFqrI01erJeQOS05QV/JpNj6737pztvM="
SHA1_KEY = "jSAqdPwssAYErK5qNAwDnYCrtDQ="
SCRYPT_KEY = (
    "s2ux08w9516ofNzx1lTHZs2AckgDqg+A187dmd9plRM1vhj2BDUcSkKdFyp0OVfEbs0Y1mYkcV1bR2BXdjjNdg=="
)
BCRYPT = "eb2MzVWKauGjRS7/rQNTOepdM75UBalZBDh2Gwt9C9xbFI8AVddq6"
ARGON2 = "$c29tZXNhbHQ$nf65EOgLrQMR/uIPnA4rEsF5h7TKyQwu9U1bMCHGi/4"

WEAK, MALFORMED, COSTLY, UNKNOWN, LONG = (
    "PASSWORD_WEAK",
    "PASSWORD_MALFORMED",
    "PASSWORD_TOO_COSTLY",
    "PASSWORD_UNKNOWN_FORMAT",
    "PASSWORD_TOO_LONG",
)


@cases("foreign", FOREIGN)
def test_strong_hash_is_imported_as_it_is(foreign: ForeignHash) -> None:
    imported = classify(foreign.hash)
    assert imported.state is ImportedPasswordState.IMPORTED
    assert imported.password_hash == foreign.hash
    assert not imported.code


@cases("stored", [None, "", "!", "!LqZ8wwwNoJcgXMEXYzDYHWcTGBPuLrJZ6Mz8ZsuX"])
def test_account_without_a_usable_password_has_none(stored: str | None) -> None:
    imported = classify(stored)
    assert imported.state is ImportedPasswordState.NONE
    assert imported.password_hash is None
    assert not imported.code


def test_hash_at_our_own_cost_needs_no_replacement() -> None:
    assert classify(f"$argon2id$v=19$m=47104,t=2,p=1{ARGON2}").state == "REPLACED"
    assert classify(f"$argon2id$v=19$m=47104,t=1,p=1{ARGON2}").state == "IMPORTED"
    assert classify(f"argon2$argon2id$v=19$m=47104,t=2,p=1{ARGON2}").state == "IMPORTED"


@cases(
    ("stored", "code"),
    [
        ("md5$aSalt$5f4dcc3b5aa765d61d8327deb882cf99", WEAK),
        ("sha1$aSalt$5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8", WEAK),
        ("sha1$$5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8", WEAK),
        ("unsalted_md5$5f4dcc3b5aa765d61d8327deb882cf99", WEAK),
        ("unsalted_sha1$$5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8", WEAK),
        ("crypt$$ab12345678901", WEAK),
        (f"pbkdf2_sha256$999$salt${KEY}", WEAK),
        ("5f4dcc3b5aa765d61d8327deb882cf99", UNKNOWN),
        ("password", UNKNOWN),
        ("$1$aSalt$qJH7.N4xYta3aEG/dfqo/0", UNKNOWN),
        (f"$2x$10${BCRYPT}", UNKNOWN),
        ("$", UNKNOWN),
        (f"pbkdf2_sha512$100000$salt${KEY}", UNKNOWN),
        (f"PBKDF2_SHA256$100000$salt${KEY}", UNKNOWN),
        ("pbkdf2_sha256", MALFORMED),
        (f"pbkdf2_sha256$100000$a\0b${KEY}", MALFORMED),
        ("pbkdf2_sha256$", MALFORMED),
        (f"pbkdf2_sha256$100000${KEY}", MALFORMED),
        (f"pbkdf2_sha256$100000$$${KEY}", MALFORMED),
        (f"pbkdf2_sha256$100000$${KEY}", MALFORMED),
        (f"pbkdf2_sha256$100000$\ud800${KEY}", MALFORMED),
        (f"pbkdf2_sha256$-1$salt${KEY}", MALFORMED),
        (f"pbkdf2_sha256$0$salt${KEY}", MALFORMED),
        (f"pbkdf2_sha256$1e6$salt${KEY}", MALFORMED),
        (f"pbkdf2_sha256$1_000_000$salt${KEY}", MALFORMED),
        (f"pbkdf2_sha256$\u0661\u0660\u0660\u0660$salt${KEY}", MALFORMED),
        (f"pbkdf2_sha256$10000000000000$salt${KEY}", MALFORMED),
        (f"pbkdf2_sha256$100000$salt${KEY[:-2]}", MALFORMED),
        (f"pbkdf2_sha256$100000$salt${KEY[:20]}", MALFORMED),
        ("pbkdf2_sha256$100000$salt$", MALFORMED),
        (f"pbkdf2_sha256$100000$salt${KEY}\n", MALFORMED),
        (f"pbkdf2_sha256$100000$salt${KEY[:-3]}é=", MALFORMED),
        (f"pbkdf2_sha1$100000$salt${KEY}", MALFORMED),
        (f"pbkdf2_sha256$3400000$salt${KEY}", COSTLY),
        (f"pbkdf2_sha256$999999999$salt${KEY}", COSTLY),
        (f"pbkdf2_sha1$3400000$salt${SHA1_KEY}", COSTLY),
        (f"bcrypt$$2b$14${BCRYPT}", COSTLY),
        (f"bcrypt_sha256$$2b$31${BCRYPT}", COSTLY),
        (f"$2y$20${BCRYPT}", COSTLY),
        (f"bcrypt$$2b$32${BCRYPT}", MALFORMED),
        (f"bcrypt$$2b$03${BCRYPT}", MALFORMED),
        (f"bcrypt$2b$10${BCRYPT}", MALFORMED),
        (f"$2b$10${BCRYPT[:-1]}", MALFORMED),
        (f"$2b$10${BCRYPT[:21]}f{BCRYPT[22:]}", MALFORMED),
        (f"scrypt$65536$salt$1$1${SCRYPT_KEY}", MALFORMED),
        (f"scrypt$131072$salt$16$1${SCRYPT_KEY}", COSTLY),
        (f"scrypt$1024$salt$8$500${SCRYPT_KEY}", COSTLY),
        (f"scrypt$16383$salt$8$1${SCRYPT_KEY}", MALFORMED),
        (f"scrypt$1$salt$8$1${SCRYPT_KEY}", MALFORMED),
        (f"scrypt$16384$salt$8$1${KEY}", MALFORMED),
        (f"scrypt$salt$16384$8$1${SCRYPT_KEY}", MALFORMED),
        (f"$argon2id$v=19$m=4194304,t=1,p=1{ARGON2}", COSTLY),
        (f"$argon2id$v=19$m=65536,t=20,p=1{ARGON2}", COSTLY),
        (f"argon2$argon2id$v=19$m=999999999,t=1,p=1{ARGON2}", COSTLY),
        (f"$argon2id$v=19$m=65536,t=2,p=999{ARGON2}", MALFORMED),
        (f"$argon2id$v=19$m=8,t=2,p=2{ARGON2}", MALFORMED),
        (f"$argon2id$v=20$m=65536,t=2,p=1{ARGON2}", MALFORMED),
        (f"$argon2x$v=19$m=65536,t=2,p=1{ARGON2}", MALFORMED),
        ("$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ", MALFORMED),
        (f"pbkdf2_sha256$100000${'s' * 300}${KEY}", LONG),
    ],
)
def test_other_hashes_must_be_reset(stored: str, code: str) -> None:
    imported = classify(stored)
    assert imported.state is ImportedPasswordState.MUST_RESET
    assert imported.password_hash is None
    assert imported.code == code
    sentence = text(imported.template, **imported.values)
    assert sentence.endswith(".")
    assert stored == "password" or stored not in sentence
    assert repr(imported) == repr(replace(imported, password_hash="secret"))


@cases(
    "stored",
    [
        f"pbkdf2_sha256$1000000$salt${KEY}",
        f"pbkdf2_sha256$1200000$salt${KEY}",
        f"pbkdf2_sha1$1300000$salt${SHA1_KEY}",
        f"bcrypt_sha256$$2b$13${BCRYPT}",
        f"scrypt$131072$salt$8$1${SCRYPT_KEY}",
        f"argon2$argon2id$v=19$m=102400,t=2,p=8{ARGON2}",
        f"$argon2id$v=19$m=65536,t=3,p=4{ARGON2}",
    ],
)
def test_costs_that_are_common_in_2026_are_accepted(stored: str) -> None:
    """Django's defaults, the recommendations of OWASP, and the second profile of RFC 9106."""
    assert classify(stored).state is ImportedPasswordState.IMPORTED


def test_firebase_hash_holds_no_signer_key() -> None:
    assert FIREBASE.hash.startswith("firebase_scrypt$16384$8$42xEC+ixf3L2lwc=$")
    assert FIREBASE_PARAMETERS.signer_key not in FIREBASE.hash
    assert FIREBASE_PARAMETERS.signer_key not in repr(FIREBASE_PARAMETERS)
    assert len(FIREBASE.hash) < 255


def test_firebase_hash_is_read_in_the_alphabet_for_urls() -> None:
    for_urls = FIREBASE_HASH.translate(str.maketrans("+/", "-_")).rstrip("=")
    assert firebase_hash(for_urls, FIREBASE_SALT, FIREBASE_PARAMETERS) == FIREBASE.hash


@cases(
    ("hashed", "salt", "changes"),
    [
        (FIREBASE_HASH[:40], FIREBASE_SALT, {}),
        ("not base64!", FIREBASE_SALT, {}),
        (FIREBASE_HASH, "*", {}),
        (FIREBASE_HASH, FIREBASE_SALT, {"signer_key": "Bw=="}),
        (FIREBASE_HASH, FIREBASE_SALT, {"mem_cost": 0}),
        (FIREBASE_HASH, FIREBASE_SALT, {"mem_cost": 10**9}),
    ],
)
def test_firebase_hash_that_does_not_fit_is_refused(
    hashed: str, salt: str, changes: dict[str, object]
) -> None:
    with pytest.raises(UnusableHash):
        firebase_hash(hashed, salt, replace(FIREBASE_PARAMETERS, **changes))  # type: ignore[arg-type]


def test_costly_firebase_project_must_be_reset() -> None:
    costly = firebase_hash(FIREBASE_HASH, FIREBASE_SALT, replace(FIREBASE_PARAMETERS, mem_cost=20))
    assert classify(costly).code == COSTLY


def test_hash_that_cannot_be_afforded_cannot_be_parsed() -> None:
    with pytest.raises(UnusableHash):
        parse_hash(f"pbkdf2_sha256$999999999$salt${KEY}")
