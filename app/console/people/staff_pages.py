"""The view models of staff: the list, and a member's page."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup

from app.console.frame.formatting import amount, html_text
from app.console.frame.parts import Pill, Question, lines, moment, muted, pill
from app.console.lists.list_page import Column
from app.console.people import person_page
from app.console.people.groups import GroupChoice
from app.domain.accounts.search import SignInMethod
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor, holds_all_permissions, is_manageable
from app.domain.authorization.permissions import Permission, in_order
from app.domain.values.text import Sentence, translatable
from app.services.console.sign_in_methods import SignInMethods
from app.services.people.user_status import Person
from app.web.translation import text

SIGN_IN_METHODS: Mapping[str, str] = {
    SignInMethod.PASSWORD: translatable("Password, no SSO"),
    SignInMethod.SINGLE_SIGN_ON: translatable("SSO, no password"),
    SignInMethod.BOTH: translatable("Password and SSO"),
    SignInMethod.NEITHER: translatable("No password and no SSO"),
    SignInMethod.NO_SIGN_ON: translatable("No SSO identity"),
}
"""Sign-in methods, as the list is filtered by them."""


@dataclass(frozen=True, slots=True)
class _LocalWords:
    """A person's password and passkeys: without a provider, below its name, and in one line."""

    alone: Sentence
    beside: Sentence
    either: Sentence


_LOCAL = {
    (True, False): _LocalWords(
        translatable("Password only"),
        translatable("and password"),
        translatable("{providers} or password"),
    ),
    (True, True): _LocalWords(
        translatable("Password or passkey"),
        translatable("and password or passkey"),
        translatable("{providers}, password or passkey"),
    ),
    (False, True): _LocalWords(
        translatable("Passkey only"),
        translatable("and passkey"),
        translatable("{providers} or passkey"),
    ),
}
"""By whether the person has a password, and a passkey."""

_NOT_ONESELF = ("deactivate", "erase", "remove", "reset-factors")
_BOLD = Markup("<b>{}</b>")


@dataclass(frozen=True, slots=True)
class HeldPermission:
    """A permission, what it allows, and where it is from: groups, a direct grant or both."""

    name: str
    label: str
    allows: str
    granted_by: str


@dataclass(frozen=True, slots=True)
class DirectPermission:
    """A permission that can be removed from a person, because it is granted directly."""

    name: str
    label: str


@dataclass(frozen=True, slots=True)
class StaffPage:
    """A staff member; ``beyond`` names permissions that keep the viewer from editing them.

    ``direct_permissions`` are those that the viewer can remove.
    """

    name: str
    email: str
    pills: tuple[Pill, ...]
    is_viewer: bool
    beyond: str
    can_edit: bool
    groups_legend: str
    groups: GroupChoice
    permissions_title: str
    permissions: tuple[HeldPermission, ...]
    direct_permissions: tuple[DirectPermission, ...]
    sign_in_method: str
    second_factor: str
    can_reset_factors: bool
    sessions: person_page.SessionsTable
    actions: person_page.AccountActions
    origin: person_page.OriginFacts | None
    can_invite_again: bool
    dialog: Question | None


def staff_columns(
    methods: Mapping[int, SignInMethods], viewer_id: int | None
) -> tuple[Column[User], ...]:
    """Return the columns of the list; ``methods`` are the sign-in methods of its people by key."""
    return (
        Column(
            "Person",
            lambda user: person_page.person_cell(
                user, "console.staff.show", is_viewer=user.id == viewer_id
            ),
            ("is-cut",),
            is_title=True,
        ),
        Column("Groups", _groups, ("is-cut", "is-some")),
        Column(
            "Signs in with", lambda user: _method_cell(user, methods.get(user.id)), ("is-state",)
        ),
        Column(
            "Second factor",
            lambda user: _factors(methods.get(user.id)) or muted(text("None")),
            ("is-extra", "is-wide"),
        ),
        Column(
            "Last active",
            lambda user: moment(_last_active(user, methods.get(user.id)), text("Never")),
            ("is-num", "is-when"),
        ),
        Column(
            "Sessions",
            lambda user: amount(methods[user.id].sessions if user.id in methods else 0),
            ("is-num", "is-wide"),
        ),
    )


def _factors(methods: SignInMethods | None) -> str:
    return person_page.factor_words(methods.factors) if methods else ""


def _last_active(user: User, methods: SignInMethods | None) -> datetime | None:
    return (methods and methods.last_used_at) or user.last_login


def make_staff_page(
    person: Person,
    actor: Actor,
    groups: GroupChoice,
    methods: SignInMethods | None,
    question_name: str = "",
) -> StaffPage:
    user = person.user
    is_viewer = user.id == actor.user_id
    can_edit = is_manageable(actor, user.permissions)
    can_ask = can_edit and not (is_viewer and question_name in _NOT_ONESELF)
    return StaffPage(
        name=person_page.name_of(user),
        email=person_page.email_below_name(user),
        pills=_pills(user, is_viewer=is_viewer),
        is_viewer=is_viewer,
        beyond="" if can_edit else _refusal_beyond_rights(user, actor),
        can_edit=can_edit,
        groups_legend=text("Groups of {name}", name=person_page.name_of(user)),
        groups=groups,
        permissions_title=text("Your permissions") if is_viewer else text("Permissions"),
        permissions=_held_permissions(person),
        direct_permissions=_direct(person) if can_edit else (),
        sign_in_method=_method(user, methods),
        second_factor=person_page.factor_words(person.factors) or text("None"),
        can_reset_factors=can_edit and not is_viewer and person.factors.is_active,
        sessions=person_page.sessions_table(person),
        origin=person_page.origin_facts(person),
        actions=person_page.account_actions(
            person,
            is_manageable=can_edit,
            is_self=is_viewer,
            holds_all=holds_all_permissions(actor),
        ),
        can_invite_again=can_edit and user.is_active and _is_invited(user, methods),
        dialog=person_page.account_dialog(question_name, person) if can_ask else None,
    )


def _is_invited(user: User, methods: SignInMethods | None) -> bool:
    has_method = methods is not None and (any(_local_methods(methods)) or bool(methods.providers))
    return not has_method and user.last_login is None


def _groups(user: User) -> str:
    names = ", ".join(group.name for group in user.groups)
    return names or (text("Superuser") if user.is_superuser else text("None"))


def _method_cell(user: User, methods: SignInMethods | None) -> Markup:
    shown, also = _method_pill(user, methods)
    return lines(pill(shown), also)


def _local_methods(methods: SignInMethods) -> tuple[bool, bool]:
    return methods.has_password, methods.factors.passkeys > 0


def _method_pill(user: User, methods: SignInMethods | None) -> tuple[Pill, str]:
    if not user.is_active:
        return Pill("off", text("Deactivated")), ""
    local = None if methods is None else _LOCAL.get(_local_methods(methods))
    if methods and methods.providers:
        return Pill("ok", ", ".join(methods.providers)), text(local.beside) if local else ""
    if local:
        return Pill("", text(local.alone)), ""
    if user.last_login:
        return Pill("warn", text("No sign-in method")), ""
    return Pill("info", text("Invited")), ""


def _method(user: User, methods: SignInMethods | None) -> str:
    local = None if methods is None else _LOCAL.get(_local_methods(methods))
    if methods and methods.providers:
        providers = ", ".join(methods.providers)
        return text(local.either, providers=providers) if local else providers
    if local:
        return text(local.alone)
    return text("No sign-in method") if user.last_login else text("Invited")


def _pills(user: User, *, is_viewer: bool) -> tuple[Pill, ...]:
    pills = [person_page.status_pill(user)]
    if is_viewer:
        pills.append(Pill("info", text("You")))
    if user.is_superuser:
        pills.append(Pill("", text("Superuser")))
    return tuple(pills)


def _refusal_beyond_rights(user: User, actor: Actor) -> str:
    beyond = in_order(user.permissions - actor.permissions)
    labels = [text(permission.label) for permission in beyond]
    return html_text(
        "{name} has a permission you don't have: {permissions}. Only someone with all of "
        "{name}'s permissions can edit this account.",
        "{name} has permissions you don't have: {permissions}. Only someone with all of "
        "{name}'s permissions can edit this account.",
        name=person_page.name_of(user),
        count=len(labels),
        permissions=Markup(", ").join(_BOLD.format(label) for label in labels),
    )


def _held_permissions(person: Person) -> tuple[HeldPermission, ...]:
    return tuple(
        HeldPermission(held.value, text(held.label), text(held.allows), _granted_by(person, held))
        for held in in_order(person.user.permissions)
    )


def _granted_by(person: Person, permission: Permission) -> str:
    """Return the groups that grant ``permission``, and whether it is also held directly."""
    groups = [group.name for group in person.user.groups if permission in group.permissions]
    sources = [", ".join(groups)] if groups else []
    if permission in person.direct_permissions:
        sources.append(text("Granted directly"))
    return " · ".join(sources)


def _direct(person: Person) -> tuple[DirectPermission, ...]:
    return tuple(
        DirectPermission(held.value, text(held.label))
        for held in in_order(person.direct_permissions)
    )
