"""Find phrases of ``phrases.txt`` in what people read: pages, mails, messages, help and docs.

``make check`` runs ``python -m tests.house.phrases``. Python's docstrings and comments aren't
searched; the help of commands and the descriptions of the schema are, as they are printed.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.house.sources import ROOT, Source, application, project_files

UNFINISHED: Mapping[str, int] = {
    "ARCHITECTURE.md": 1,
    "README.md": 1,
    "SECURITY.md": 1,
    "app/commands/app_installations.py": 4,
    "app/commands/app_tokens.py": 3,
    "app/commands/apps.py": 1,
    "app/commands/demo.py": 1,
    "app/commands/group.py": 2,
    "app/commands/login.py": 1,
    "app/commands/oidc.py": 1,
    "app/commands/serve.py": 3,
    "app/commands/terminal/prompts.py": 1,
    "app/commands/user.py": 5,
    "app/commands/user_changes.py": 1,
    "app/commands/webhook.py": 1,
    "app/commands/webhooks/bulk_update.py": 1,
    "app/commands/webhooks/create.py": 3,
    "app/commands/webhooks/dry_runs.py": 1,
    "app/commands/webhooks/edit.py": 3,
    "app/commands/webhooks/fields.py": 1,
    "app/commands/webhooks/redelivery.py": 1,
    "app/console/access.py": 4,
    "app/console/access_page.py": 5,
    "app/console/access_positions.py": 3,
    "app/console/home_page.py": 13,
    "app/domain/events/accounts.py": 3,
    "app/domain/events/checkouts.py": 1,
    "app/domain/inspector/token_inspection.py": 1,
    "app/domain/shop/lockouts.py": 6,
    "app/domain/single_sign_on/provider_settings.py": 2,
    "app/domain/single_sign_on/provider_users.py": 1,
    "app/graphql/events/event.py": 2,
    "app/graphql/events/subscription.py": 1,
    "app/graphql/mutations/accounts.py": 3,
    "app/graphql/mutations/app_installations.py": 2,
    "app/graphql/mutations/app_tokens.py": 2,
    "app/graphql/mutations/avatars.py": 1,
    "app/graphql/mutations/checkouts.py": 2,
    "app/graphql/mutations/customers.py": 1,
    "app/graphql/mutations/dry_runs.py": 1,
    "app/graphql/mutations/external.py": 6,
    "app/graphql/mutations/passwords.py": 3,
    "app/graphql/mutations/staff.py": 2,
    "app/graphql/mutations/tokens.py": 2,
    "app/graphql/mutations/webhooks.py": 2,
    "app/graphql/queries/apps.py": 1,
    "app/graphql/queries/users.py": 1,
    "app/graphql/types/deliveries.py": 1,
    "app/graphql/types/extensions.py": 1,
    "app/graphql/types/orders.py": 1,
    "app/graphql/types/products.py": 1,
    "app/graphql/types/users.py": 1,
    "app/graphql/types/webhooks.py": 1,
    "app/remote/responses.py": 2,
    "app/services/accounts/account_deletions.py": 1,
    "app/services/accounts/email_changes.py": 1,
    "app/services/console/console_sessions.py": 1,
    "app/services/deliveries/dry_runs.py": 1,
    "app/services/identity/provider_token_verification.py": 1,
    "app/services/inspector/app_tokens.py": 1,
    "app/services/inspector/own_tokens.py": 4,
    "app/services/inspector/provider_tokens.py": 3,
    "app/services/operations/environment_checks.py": 2,
    "app/services/people/directory.py": 1,
    "app/services/people/user_creation.py": 2,
    "app/services/sign_in/password_login.py": 2,
    "app/services/sign_in/reauthentication.py": 2,
    "app/services/single_sign_on/attribute_mapping.py": 1,
    "app/services/single_sign_on/provider_checks.py": 1,
    "app/services/single_sign_on/refresh.py": 1,
    "app/services/single_sign_on/sign_in.py": 1,
    "app/services/webhooks/link_events.py": 1,
    "app/setting_values.py": 2,
    "app/templates/console/access/index.html": 12,
    "app/templates/console/passwords/forgotten.html": 1,
    "app/templates/console/session_restricted.html": 9,
    "app/templates/error.html": 1,
    "app/templates/mail/account_exists.html": 1,
    "app/templates/mail/account_exists.txt": 1,
    "app/templates/mail/password_reset.html": 1,
    "app/templates/mail/password_reset.txt": 1,
    "app/templates/mail/webhook_disabled.html": 1,
    "app/templates/mail/webhook_disabled.txt": 1,
    "docs/commands.md": 62,
    "docs/limits.md": 1,
    "docs/schema.graphql": 132,
    "docs/security/asvs.md": 3,
}
"""Files whose texts aren't all put right yet, and how many phrases they can still have."""

_LIST = Path(__file__).with_name("phrases.txt")
_DOCS = {".graphql", ".html", ".md", ".txt"}
_EXEMPT = {
    "CHANGELOG.md",  # what was released is history
    "docs/access.md",  # first lines of docstrings
    "app/domain/passwords/common_words.py",  # passwords that people choose
}
_COMMENT = re.compile(r"\{#.*?#\}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Found:
    """A phrase in a file, with what to write instead."""

    path: str
    line: int
    phrase: str
    instead: str

    @property
    def complaint(self) -> str:
        return f'{self.path}:{self.line}: "{self.phrase}", write: {self.instead}'


@dataclass(frozen=True, slots=True)
class Text:
    """A text in a Python file."""

    value: str
    lineno: int


def read_phrases() -> Mapping[str, str]:
    """Return the list: what to write instead, by phrase."""
    lines = (line.partition("|") for line in _LIST.read_text().splitlines())
    return {phrase.strip(): instead.strip() for phrase, _, instead in lines}


def find_phrases(phrases: Mapping[str, str]) -> Iterator[Found]:
    """Yield each phrase in the project's templates, docs and Python texts."""
    for path in project_files():
        name = path.relative_to(ROOT).as_posix()
        is_read = name.startswith(("app/templates/", "docs/")) or "/" not in name
        if is_read and path.suffix in _DOCS and name not in _EXEMPT:
            for line, phrase in matches(phrases, without_comments(path.read_text())):
                yield Found(name, line, phrase, phrases[phrase])
    for source in application():
        if source.path in _EXEMPT:
            continue
        for text in shown_texts(source):
            for _, phrase in matches(phrases, text.value):
                yield Found(source.path, text.lineno, phrase, phrases[phrase])


def matches(phrases: Iterable[str], text: str) -> Iterator[tuple[int, str]]:
    """Yield line and phrase of each match: whole words, whatever their case and line breaks."""
    plain = " ".join(text.lower().split())
    for phrase in phrases:
        if phrase in plain:  # spares most texts the search by words
            for match in _pattern(phrase).finditer(text):
                yield text.count("\n", 0, match.start()) + 1, phrase


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    words = r"\s+".join(map(re.escape, phrase.split()))
    return re.compile(rf"(?<![\w-]){words}(?![\w-])", re.IGNORECASE)


def shown_texts(source: Source) -> Iterator[Text]:
    """Yield the texts of a file but its docstrings."""
    docstrings = {node.value for node in ast.walk(source.tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.Constant) or node in docstrings:
            continue
        if isinstance(node.value, str):
            yield Text(node.value, node.lineno)


def without_comments(template: str) -> str:
    """Return a template with its comments blanked, each line where it was."""
    return _COMMENT.sub(lambda comment: re.sub(r"[^\n]", " ", comment[0]), template)


def complaints() -> list[str]:
    """Return the phrases of files that have more than ``UNFINISHED`` lets them, a line each."""
    found = list(find_phrases(read_phrases()))
    numbers = Counter(one.path for one in found)
    more = {path for path, number in numbers.items() if number > UNFINISHED.get(path, 0)}
    return [one.complaint for one in found if one.path in more]


def main() -> int:
    found = complaints()
    sys.stdout.writelines(f"{one}\n" for one in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
