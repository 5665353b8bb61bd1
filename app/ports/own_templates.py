"""The shop's own email templates: checking them, and those in a folder of the installation."""

from typing import Protocol

from app.domain.mails.mail import MailKind
from app.domain.mails.own_templates import FolderFault, OwnTemplate, UrlRule
from app.domain.values.errors import Problem


class OwnTemplates(Protocol):
    def check(
        self, kind: MailKind, template: OwnTemplate, url_rule: UrlRule
    ) -> tuple[Problem, ...]:
        """Return what is wrong, each with the part as field and its line."""

    def find(self, kind: MailKind, language_code: str) -> OwnTemplate | None:
        """Return the folder's template for the language, else for all; ``None`` without one.

        Raises ``OwnTemplateBroken`` for a file that can't be read or isn't allowed.
        """

    def listed(self) -> tuple[tuple[MailKind, str], ...]:
        """Return kind and language, "" for all, of each template in the folder."""

    def faults(self) -> tuple[FolderFault, ...]:
        """Return what is wrong in the folder."""
