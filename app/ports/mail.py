"""Writing mails out of their templates, the shop's own ones too, and handing them over."""

from typing import Protocol

from app.domain.mails.design import Logo
from app.domain.mails.mail import Mail, MailKind, RenderedMail
from app.domain.mails.own_templates import FolderFault, OwnTemplate, UrlRule
from app.domain.shop.settings import ShopSettings
from app.domain.values.errors import Problem


class OwnTemplates(Protocol):
    def check(
        self, kind: MailKind, template: OwnTemplate, url_rule: UrlRule
    ) -> tuple[Problem, ...]:
        """Return what is wrong, each with the part as field and its line."""

    def find(self, kind: MailKind, language_code: str) -> OwnTemplate | None:
        """Return the folder's template for the language, "" for all; ``None`` without one.

        Raises ``OwnTemplateBroken`` for a file that can't be read or isn't allowed.
        """

    def listed(self) -> tuple[tuple[MailKind, str], ...]:
        """Return kind and language, "" for all, of each template in the folder."""

    def faults(self) -> tuple[FolderFault, ...]:
        """Return what is wrong in the folder."""


class MailUndeliverable(Exception):
    """The letter was not taken over; ``permanent`` when asking again would not help."""

    def __init__(self, reason: str, *, permanent: bool = False) -> None:
        super().__init__(reason)
        self.permanent = permanent


class OwnTemplateBroken(Exception):
    """A template of the shop can't be rendered; ``problem`` says which part, where and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class EmailTemplates(Protocol):
    def render(
        self,
        mail: Mail,
        shop: ShopSettings,
        logo: Logo | None = None,
        own: OwnTemplate | None = None,
    ) -> RenderedMail:
        """The email that ``mail`` becomes, in the shop's name and look: text and HTML.

        By the template ``own`` if it is given; raises ``OwnTemplateBroken`` if that fails.
        """

    def starter(self, kind: MailKind, language_code: str) -> OwnTemplate:
        """Return Latchkey's email as a template to begin with."""


class Mailer(Protocol):
    def send(self, rendered: RenderedMail) -> None:
        """Hand ``rendered`` over; raises ``MailUndeliverable``. Never inside a transaction."""

    def check(self) -> bool:
        """Whether letters leave for their recipients, rather than for a file; sends none.

        Raises ``MailUndeliverable`` when they would not be taken from us.
        """
