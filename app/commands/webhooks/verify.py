"""``flask webhook verify``: whether a delivery is what its signature says."""

import hmac
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import click

from app.commands.terminal.exit_codes import Exit
from app.commands.terminal.options import FilePath, read_bytes, read_file
from app.commands.terminal.output import Column, output
from app.commands.webhooks.instance_option import instance, webhook_command
from app.domain.deliveries.signatures import hex_signature, standard_signature
from app.domain.keys import PublicKey, read_key_set
from app.domain.sign_in.jws import read_members
from app.domain.values.errors import Problem, Refused, TokenRejected
from app.domain.values.installation import Unreachable
from app.domain.values.json_values import read_json_object
from app.ports.http import CallFailed, CallFault, HttpRequest, json_members
from app.web.installation import remote_access

_SECONDS = re.compile(r"[0-9]{1,15}")
_STANDARD = "webhook-signature"
_ID, _TIME = "webhook-id", "webhook-timestamp"
_SIGNED = "Signed with the secret."
_WRAPPERS = ("headers", "rawheaders", "multivalueheaders")
_SHOWN = re.compile(r"^[<>] ?")
_REQUEST_LINE = re.compile(r"[A-Z]+ \S+ HTTP/[0-9.]+|HTTP/[0-9.]+ [0-9]+.*")


@dataclass(frozen=True, slots=True)
class SignatureCheck:
    """One signature, or the time that goes with it: good or not, and why."""

    header: str
    message: str = ""
    is_valid: bool = False


@dataclass(frozen=True, slots=True)
class _Case:
    body: bytes
    headers: Mapping[str, str]
    secret: str | None
    key_set: str | None
    tolerance: int | None


_COLUMNS: tuple[Column[SignatureCheck], ...] = (
    Column("header", "Header", lambda check: check.header, short=True),
    Column("valid", "Valid", lambda check: check.is_valid, short=True),
    Column("message", "Found", lambda check: check.message),
)


@webhook_command(
    "verify",
    examples=[
        ("flask webhook verify body.json --headers headers.txt", "with this installation's keys"),
        (
            "flask webhook verify body.json --headers headers.txt --key-set keys.json",
            "offline, with published keys",
        ),
        (
            "flask webhook verify - --headers h.txt --secret-file secret < body.json",
            "with a secret",
        ),
    ],
)
@click.argument("body", type=FilePath(allow_dash=True))
@click.option(
    "--headers",
    "file",
    metavar="FILE",
    help="File with the headers: one per line, or JSON as servers and tools write it.",
)
@click.option("--header", "lines", multiple=True, help="A header: 'Name: value'. Repeatable.")
@click.option("--secret-file", metavar="FILE", help="File with the webhook's secret.")
@click.option(
    "--key-set", metavar="URL|FILE", help="A JSON Web Key Set: a URL, or a file for offline use."
)
@click.option(
    "--tolerance",
    type=click.IntRange(1),
    help="Maximum difference of webhook-timestamp from now, in seconds. Default: not checked.",
)
def verify(
    body: str,
    file: str | None,
    lines: tuple[str, ...],
    secret_file: str | None,
    key_set: str | None,
    tolerance: int | None,
) -> None:
    """Verify a delivery's signatures. BODY is a file with its exact bytes.

    One of body, headers and secret can be - for standard input. Exits with 1 if a signature is
    invalid. Works offline with a key file or a secret.
    """
    if [body, file, secret_file].count("-") > 1:
        raise click.UsageError("Standard input can provide only one of body, headers and secret.")
    case = _Case(
        body=read_bytes(body),
        headers={**(_read_headers(read_file(file)) if file else {}), **_from_lines(lines)},
        secret=read_file(secret_file).strip() if secret_file else None,
        key_set=key_set,
        tolerance=tolerance,
    )
    checks = list(_checks(case))
    if not checks:
        raise click.UsageError("No signature header found. Use --headers or --header.")
    output().rows(checks, _COLUMNS, empty="")
    if not all(check.is_valid for check in checks):
        click.get_current_context().exit(Exit.FAILED)


def _checks(case: _Case) -> Iterator[SignatureCheck]:
    for name, value in case.headers.items():
        if name == _STANDARD:
            yield _standard(case, value)
        elif name.endswith("-signature"):
            yield _detached(case, name, value) if "." in value else _hex(case, name, value)
    if case.tolerance is not None:
        yield _time(case, case.tolerance)


def _standard(case: _Case, value: str) -> SignatureCheck:
    identity, sent = case.headers.get(_ID, ""), case.headers.get(_TIME, "")
    if not (identity and _SECONDS.fullmatch(sent)):
        return SignatureCheck(_STANDARD, f"{_ID} or {_TIME} is missing or invalid.")
    expected = standard_signature(_secret(case), identity, int(sent), case.body)
    is_valid = any(hmac.compare_digest(expected.encode(), part.encode()) for part in value.split())
    wrong = "The secret, body, ID or time doesn't match the signature."
    return SignatureCheck(_STANDARD, _SIGNED if is_valid else wrong, is_valid)


def _hex(case: _Case, name: str, value: str) -> SignatureCheck:
    expected = hex_signature(_secret(case), case.body)
    is_valid = hmac.compare_digest(expected.encode(), value.strip().encode())
    wrong = "The secret or body doesn't match the signature."
    return SignatureCheck(name, _SIGNED if is_valid else wrong, is_valid)


def _detached(case: _Case, name: str, value: str) -> SignatureCheck:
    try:
        key = remote_access().signatures.verify_detached(_keys(case), value, case.body)
    except TokenRejected as rejected:
        return SignatureCheck(name, str(rejected))
    return SignatureCheck(name, f"Signed with key {key.kid}.", is_valid=True)


def _time(case: _Case, tolerance: int) -> SignatureCheck:
    sent = case.headers.get(_TIME, "")
    if not _SECONDS.fullmatch(sent):
        return SignatureCheck(_TIME, "Missing or not a number of seconds.")
    off = remote_access().clock.timestamp() - int(sent)
    when = "ago" if off >= 0 else "ahead of this clock"
    return SignatureCheck(_TIME, f"{abs(off):.0f} seconds {when}.", is_valid=abs(off) <= tolerance)


def _secret(case: _Case) -> str:
    if case.secret is None:
        raise click.UsageError("Signed with the webhook's secret. Use --secret-file.")
    return case.secret


def _keys(case: _Case) -> Mapping[str, PublicKey]:
    """Return the keys of the given set, or of the current instance."""
    source = case.key_set or "the installation's key set"
    try:
        if case.key_set is None:
            members = read_members(instance().key_set())
        elif case.key_set.lower().startswith(("https://", "http://")):
            members = json_members(remote_access().http.send(HttpRequest(case.key_set)), source)
        else:
            members = read_json_object(read_file(case.key_set).encode())
        return read_key_set(members)
    except CallFailed as failed:
        if failed.fault is CallFault.ADDRESS:
            raise click.UsageError(f"Can't fetch --key-set. {failed}") from None
        raise Unreachable(source, str(failed)) from None
    except (TokenRejected, ValueError):
        message = "{source} is not a JSON Web Key Set."
        raise Refused(Problem("INVALID", message, "keySet", values={"source": source})) from None


def _read_headers(text: str) -> dict[str, str]:
    """Headers as programs and HTTP write them; names in lower case."""
    try:
        read = json.loads(text)
    except ValueError:
        return _from_lines(_header_lines(text))
    pairs = list(_pairs(read))
    if not pairs:
        raise click.UsageError("Headers must be lines of 'Name: value', or JSON.")
    headers: dict[str, str] = {}
    for name, value in pairs:
        # Several values of a header are one list (RFC 9110, 5.3); Standard Webhooks has blanks.
        joint = " " if name == _STANDARD else ", "
        headers[name] = joint.join(filter(None, (headers.get(name), value)))
    return headers


def _header_lines(text: str) -> Iterator[str]:
    """Yield the headers of an HTTP request, also as ``curl -v`` shows it."""
    for line in text.lstrip("\ufeff").splitlines():
        header = _SHOWN.sub("", line)
        if header.strip() and not _REQUEST_LINE.fullmatch(header.strip()):
            yield header


def _pairs(read: object) -> Iterator[tuple[str, str]]:
    """Yield names and values from the JSON that servers and tools write of headers.

    An object by name, whose values can be lists; a list of pairs, of objects with name and value,
    or of names and values in turn; any of them as the member ``headers`` of an object.
    """
    if isinstance(read, dict):
        inner = next((read[name] for name in read if name.lower() in _WRAPPERS), None)
        if isinstance(inner, (dict, list)):
            yield from _pairs(inner)
        elif isinstance(name := read.get("name", read.get("key")), str) and "value" in read:
            yield from _values(name, read["value"])
        else:
            for name, value in read.items():
                yield from _values(name, value)
    elif isinstance(read, list) and read and all(isinstance(item, str) for item in read):
        for name, value in zip(read[::2], read[1::2], strict=False):
            yield from _values(name, value)
    elif isinstance(read, list):
        for item in read:
            is_pair = isinstance(item, list) and len(item) == 2 and isinstance(item[0], str)  # noqa: PLR2004
            yield from _values(*item) if is_pair else _pairs(item)


def _values(name: str, value: object) -> Iterator[tuple[str, str]]:
    # As CGI and its successors name them: HTTP_WEBHOOK_ID.
    name = name.strip().lower()
    if name.startswith("http_"):
        name = name.removeprefix("http_").replace("_", "-")
    for one in value if isinstance(value, list) else [value]:
        if one is not None:
            yield name, str(one).strip()


def _from_lines(lines: Iterable[str]) -> dict[str, str]:
    headers = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise click.UsageError(f"{line[:80]!r} is not a header. Use 'Name: value'.")
        headers[name.strip().lower()] = value.strip()
    return headers
