"""The attribute mapping preview in words: who a provider's token signs in, with which rights."""

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from app.console.formatting import html_text, permission_label
from app.console.parts import Fact
from app.domain.single_sign_on.attribute_mapping import MappedKind, MappedTo, MappingPreview
from app.domain.single_sign_on.provider_users import ExternalPerson
from app.domain.values.text import translatable
from app.web.translation import reason_text, text


@dataclass(frozen=True, slots=True)
class PreviewCard:
    """A preview: ``state`` is ok, warn or bad."""

    state: str
    title: str
    detail: str
    facts: tuple[Fact, ...]


def make_preview_card(found: MappingPreview) -> PreviewCard:
    """Return the card that shows ``found``."""
    state, title, detail = _result(found)
    return PreviewCard(state, title, detail, tuple(_facts(found)))


def _result(found: MappingPreview) -> tuple[str, str, str]:
    if found.outcome is MappedTo.NOBODY:
        return "bad", text("Sign-in would be refused."), reason_text(found.reason)
    account = found.email
    if found.name:
        account = text("{email} ({name})", email=found.email, name=found.name)
    if found.outcome is MappedTo.KNOWN:
        return "ok", text("Matches {account}.", account=account), text("This account is linked.")
    if found.outcome is MappedTo.LINKED:
        title = text("Matches {account}.", account=account)
        return (
            "warn",
            title,
            text("The account would be linked: its email is verified on both sides."),
        )
    title = text("Creates a new account for {account}.", account=account)
    if found.person is not None and not found.person.is_verified:
        return "ok", title, text("It has no password. The provider hasn't verified the email.")
    return "ok", title, text("It has no password.")


_KINDS = {
    MappedKind.ACCESS: translatable("Access token"),
    MappedKind.ID: translatable("ID token"),
    MappedKind.OPAQUE: translatable("Opaque access token"),
}


def _facts(found: MappingPreview) -> Iterator[Fact]:
    yield Fact(text("Token type"), text(_KINDS[found.kind]))
    if found.person is not None:
        subject = html_text(Markup("<code>{subject}</code>"), subject=found.person.subject)
        yield Fact(text("Subject"), subject)
        yield Fact(text("Email at the provider"), _email(found.person))
    if found.outcome is MappedTo.NOBODY:
        return
    yield Fact(text("Account type"), _account_type(found))
    yield Fact(text("Groups"), _groups(found))
    yield Fact(text("Permissions"), _permissions(found))


def _email(person: ExternalPerson) -> str:
    if not person.email:
        return text("None")
    return _noted(person.email, text("verified") if person.is_verified else text("not verified"))


def _account_type(found: MappingPreview) -> str:
    if found.becomes_staff:
        return _noted(text("Staff"), text("assigned by the provider's settings"))
    return text("Staff") if found.is_staff else text("Customer")


def _groups(found: MappingPreview) -> str:
    groups = ", ".join(found.groups) or (
        text("Not shown") if found.rights_hidden else text("None")
    )
    if not found.joins:
        return groups
    return _noted(groups, text("{group} would be assigned", group=found.joins))


def _permissions(found: MappingPreview) -> str:
    if found.rights_hidden:
        needed = "MANAGE_STAFF" if found.is_staff else "MANAGE_USERS"
        return html_text(
            Markup("To see them, you need <b>{label}</b> (<code>{needed}</code>)."),
            label=permission_label(needed),
            needed=needed,
        )
    if found.permissions is None:
        return text("Not in this token: the provider grants permissions in access tokens.")
    names = ", ".join(permission_label(permission) for permission in found.permissions) or text(
        "None"
    )
    return _noted(names, text("set at the provider") if found.provider_rules else text("set here"))


def _noted(value: str, note: str) -> Markup:
    """Return a value with a remark."""
    return html_text(
        Markup('{value} <span class="lk-muted">{note}</span>'), value=value, note=note
    )
