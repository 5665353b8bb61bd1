"""The page at ``GET /graphql/``: write a query, send it with a token, read the answer."""

from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from app.ports.configuration import Configuration
from app.web.headers import Headers, security_headers

_APP = Path(__file__).parents[2]
EDITOR = _APP / "static" / "vendor" / "graphiql" / "graphiql.min.js"
"""GraphiQL, where ``make playground`` has put it; without it a plain page does the same job."""

_POLICY = (
    "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "font-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
)
_PLAIN_POLICY = _POLICY + "style-src 'self'"
_EDITOR_POLICY = _POLICY + "style-src 'self' 'unsafe-inline'"
"""GraphiQL places its panes by style attributes; this page alone allows them."""

_pages = Environment(loader=FileSystemLoader(_APP / "templates"), autoescape=True)


@dataclass(frozen=True, slots=True)
class Page:
    """A page and the headers that it needs."""

    headers: Headers
    body: bytes


def playground(configuration: Configuration, *, root: str) -> Page:
    """Return the playground's page for ``root``, the installation's mount path."""
    with_editor = EDITOR.exists()
    body = _pages.get_template("playground.html").render(root=root, with_editor=with_editor)
    headers = (
        *security_headers(configuration),
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Security-Policy", _EDITOR_POLICY if with_editor else _PLAIN_POLICY),
        ("Cache-Control", "no-cache"),
    )
    return Page(headers, body.encode())
