"""People as others look them up: listed, searched for, found."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial

from sqlalchemy import ColumnElement, Select, exists, func, literal_column, select
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased
from typing_extensions import TypeVarTuple

from app.domain.accounts.directory import SignInMethod, UserFilter, UserSort
from app.domain.accounts.emails import normalize_email
from app.domain.accounts.search import end_of, read_search
from app.domain.accounts.users import User
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import key_of
from app.domain.values.pages import Page, PageRequest, empty_page
from app.domain.values.text_rules import is_storable
from app.models import GroupMemberRecord, UserRecord, UserWordRecord
from app.ports import Ports
from app.services.authorization.live_sessions import USER_COLUMNS, read_user
from app.services.authorization.register import reads_replica, requires
from app.services.identity.manageable_users import NEEDED
from app.services.identity.sso_coverage import has_sign_on, is_known_to_provider
from app.services.lists.paging import Order, read_page
from app.services.people.notes import has_reference

_MAX_IDS = 1000
_FREQUENT = 2000
"""Where counting how many begin with a word stops."""

_EVERYBODY = UserFilter()
_BY_AGE = (UserRecord.id,)
_BY_WORD = (UserWordRecord.word, UserWordRecord.user_id)
_SORTS = {
    UserSort.EMAIL: (UserRecord.email,),
    UserSort.FIRST_NAME: (UserRecord.first_name, UserRecord.last_name, UserRecord.id),
    UserSort.LAST_NAME: (UserRecord.last_name, UserRecord.first_name, UserRecord.id),
    UserSort.CREATED_AT: (UserRecord.date_joined, UserRecord.id),
    UserSort.LAST_MODIFIED_AT: (UserRecord.updated_at, UserRecord.id),
}
_SAID: Mapping[bool, ColumnElement[bool]] = {
    True: literal_column("TRUE"),
    False: literal_column("FALSE"),
}
"""Not as values: an index of those who are locked out is used only by queries that say so."""
_Query = Select[*tuple[object, ...]]
Columns = TypeVarTuple("Columns")


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def list_users(
    ports: Ports,
    actor: Actor,
    page: PageRequest,
    *,
    search: str = "",
    is_staff: bool | None = None,
    is_active: bool | None = None,
) -> Page[User]:
    """List people as added: staff for MANAGE_STAFF, customers for MANAGE_USERS.

    ``search`` matches the beginnings of words; matches are sorted by the word that matched.
    """
    kinds = [
        kind for kind, needed in NEEDED.items() if actor.holds(needed) and is_staff in (None, kind)
    ]
    return _list(ports, page, kinds, UserFilter(search=search, is_active=is_active))


@reads_replica
@requires(Permission.MANAGE_USERS, Permission.MANAGE_ORDERS)
def list_customers(
    ports: Ports, actor: Actor, page: PageRequest, filter_: UserFilter = _EVERYBODY
) -> Page[User]:
    """List customers (`customers`); refuses GRAPHQL_ERROR on ``sortBy`` with a search."""
    return _list(ports, page, [False], filter_)


@requires(Permission.MANAGE_STAFF)
def list_staff(
    ports: Ports, actor: Actor, page: PageRequest, filter_: UserFilter = _EVERYBODY
) -> Page[User]:
    """Members of the staff (`staffUsers`); refuses as ``list_customers`` does."""
    return _list(ports, page, [True], filter_)


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def find_user(ports: Ports, actor: Actor, email: str) -> User:
    """Return the user with that email; refuses NOT_FOUND on ``email``."""
    with ports.database.reading() as session:
        user = _find(session, _has_email(email))
    if user is None:
        raise Refused(
            Problem(
                "NOT_FOUND", "No account has the email {email}.", "email", values={"email": email}
            )
        )
    if not actor.holds(NEEDED[user.is_staff]):
        raise PermissionDenied(NEEDED[user.is_staff])
    return user


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS, Permission.MANAGE_ORDERS)
def show_user(
    ports: Ports,
    actor: Actor,
    *,
    user_id: str | None = None,
    email: str | None = None,
    external_reference: str | None = None,
) -> User | None:
    """Return the user of a global ID, email or external reference (`user`).

    ``None`` if the caller can't see them: MANAGE_STAFF shows staff, MANAGE_USERS and MANAGE_ORDERS
    each show customers. Refuses GRAPHQL_ERROR unless exactly one of the three is given, NOT_FOUND
    for an ID of another type.
    """
    if sum(value is not None for value in (user_id, email, external_reference)) != 1:
        message = "Pass either `id`, `email` or `externalReference`."
        raise Refused(Problem("GRAPHQL_ERROR", message, "id"))
    who = _has_email(email or "")
    if user_id is not None:
        who = UserRecord.id == key_of(user_id, "User")
    elif external_reference is not None:
        who = has_reference(external_reference)
    with ports.database.reading() as session:
        user = _find(session, who)
    if user is None or not _shows(actor, user):
        return None
    return user


def _shows(actor: Actor, user: User) -> bool:
    if user.is_staff:
        return actor.holds(Permission.MANAGE_STAFF)
    return actor.holds(Permission.MANAGE_USERS) or actor.holds(Permission.MANAGE_ORDERS)


def _find(session: Session, who: ColumnElement[bool]) -> User | None:
    row = session.execute(select(*USER_COLUMNS).where(who)).one_or_none()
    return None if row is None else read_user(row)


def _has_email(email: str) -> ColumnElement[bool]:
    # No database can be asked for what it cannot hold.
    return UserRecord.email == (normalize_email(email) if is_storable(email) else "")


def _list(
    ports: Ports, page: PageRequest, kinds: Collection[bool], filter_: UserFilter
) -> Page[User]:
    words = read_search(filter_.search)
    if words is None or not kinds:
        return empty_page()
    if words and filter_.sort is not None:
        message = "Search results are sorted by the matched word. Omit `sortBy` in a search."
        raise Refused(Problem("GRAPHQL_ERROR", message, "sortBy"))
    with ports.database.reading() as session:
        if words:
            query, order = _found(kinds, _rarest_first(session, kinds, words, page))
        else:
            query, order = _everybody(kinds, filter_)
        if filter_.is_active is not None:
            query = query.where(UserRecord.is_active.is_(_SAID[filter_.is_active]))
        if filter_.ids is not None:
            query = query.where(UserRecord.id.in_(_keys(filter_.ids)))
        query = query.where(*_membership(filter_), *_signs_in_by(filter_))
        whole = _of_kinds(select(UserRecord.id), UserRecord.is_staff, kinds)
        return read_page(ports, session, query, order, page, read_user, whole)


def _everybody(kinds: Collection[bool], filter_: UserFilter) -> tuple[_Query, Order]:
    query = _of_kinds(select(*USER_COLUMNS), UserRecord.is_staff, kinds)
    columns = _BY_AGE if filter_.sort is None else _SORTS[filter_.sort]
    return query, Order(columns, descending=filter_.descending)


def _found(kinds: Collection[bool], words: Sequence[str]) -> tuple[_Query, Order]:
    """Select people who have, for each of ``words``, a word that begins with it.

    The index is read from the first word on. A person with two matching words is listed at the
    earlier one.
    """
    leading, *others = words
    query = (
        select(*USER_COLUMNS)
        .select_from(UserWordRecord)
        .join(UserRecord, UserRecord.id == UserWordRecord.user_id)
        .where(_begins(UserWordRecord.word, leading))
    )
    query = _of_kinds(query, UserWordRecord.is_staff, kinds)
    earlier = aliased(UserWordRecord)
    query = query.where(
        ~exists().where(
            earlier.user_id == UserWordRecord.user_id,
            earlier.word >= leading,
            earlier.word < UserWordRecord.word,
        )
    )
    for word in others:
        other_word = aliased(UserWordRecord)
        statement = select(other_word.user_id).where(
            other_word.user_id == UserWordRecord.user_id, _begins(other_word.word, word)
        )
        # The limit keeps PostgreSQL from gathering everybody who has the other word first.
        query = query.where(statement.limit(1).scalar_subquery().is_not(None))
    return query, Order(_BY_WORD)


def _rarest_first(
    session: Session, kinds: Collection[bool], words: Sequence[str], page: PageRequest
) -> list[str]:
    """Return ``words`` with the rarest first: only its matches are checked for the others.

    Cursors contain the first word.
    """
    if len(words) == 1:
        return list(words)
    place = str(page.cursor[0]) if page.cursor else ""
    began = [word for word in words if place.startswith(word)]
    leading = began[0] if began else min(words, key=partial(_frequency, session, kinds))
    return [leading, *(word for word in words if word != leading)]


def _frequency(session: Session, kinds: Collection[bool], word: str) -> int:
    some = select(UserWordRecord.user_id).where(_begins(UserWordRecord.word, word))
    some = _of_kinds(some, UserWordRecord.is_staff, kinds).limit(_FREQUENT)
    return session.scalar(select(func.count()).select_from(some.subquery())) or 0


def _of_kinds(
    query: Select[*Columns], column: InstrumentedAttribute[bool], kinds: Collection[bool]
) -> Select[*Columns]:
    if len(kinds) == len(NEEDED):
        return query
    # One kind is an equality, which an index in the list's order begins with.
    return query.where(column == next(iter(kinds)))


def _begins(column: InstrumentedAttribute[str], beginning: str) -> ColumnElement[bool]:
    return (column >= beginning) & (column < end_of(beginning))


def _membership(filter_: UserFilter) -> Iterator[ColumnElement[bool]]:
    if filter_.group_id is not None:
        # By another name: the subqueries of a person's own groups use the table too.
        member = aliased(GroupMemberRecord)
        in_group = select(member.user_id).where(member.group_id == filter_.group_id)
        yield UserRecord.id.in_(in_group)


def _signs_in_by(filter_: UserFilter) -> Iterator[ColumnElement[bool]]:
    way = filter_.signs_in_by
    if way is SignInMethod.NO_SIGN_ON:
        yield ~has_sign_on()
    elif way is not None:
        has_password = UserRecord.password_hash.is_not(None)
        yield has_password if way.has_password else ~has_password
        is_known = is_known_to_provider()
        yield is_known if way.is_known_to_provider else ~is_known


def _keys(ids: tuple[str, ...]) -> list[int]:
    if len(ids) > _MAX_IDS:
        message = "Use at most {max_ids} IDs; this has {count}."
        raise Refused(
            Problem(
                "GRAPHQL_ERROR", message, "ids", values={"max_ids": _MAX_IDS, "count": len(ids)}
            )
        )
    return [key_of(id_, "User", field="ids") for id_ in ids]
