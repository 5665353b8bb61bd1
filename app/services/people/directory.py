"""Find people: listed, searched and looked up, with notes for those who can read them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain

from sqlalchemy import (
    ColumnElement,
    ScalarSelect,
    Select,
    and_,
    exists,
    false,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.orm import InstrumentedAttribute, Session, aliased

from app import models
from app.domain.accounts.emails import email_spellings
from app.domain.accounts.search import SignInMethod, UserFilter, UserSort, end_of, read_search
from app.domain.accounts.users import User, require_sees_account
from app.domain.authorization.actor import Actor
from app.domain.authorization.permissions import Permission
from app.domain.values.errors import PermissionDenied, Problem, Refused
from app.domain.values.ids import filtered_keys, key_of
from app.domain.values.pages import Page, PageRequest, empty_page
from app.domain.values.text_rules import is_storable
from app.ports import Ports
from app.services.authorization.register import (
    building_block,
    can_call,
    lists_from_replica,
    public,
    requires,
    users_or,
)
from app.services.authorization.session_rights import USER_COLUMNS, read_user
from app.services.identity.providers import has_sign_on, is_known_to_provider
from app.services.identity.users import NEEDED, require_private_reader, stored_email
from app.services.lists.filters import Where, in_range, is_reached, nested_condition
from app.services.lists.paging import Order, in_order, read_by_keys, read_page, with_conditions


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def notes_of_users(ports: Ports, actor: Actor, users: Collection[User]) -> Mapping[int, str]:
    """Return the note of each of ``users``, empty for none, in one statement.

    Raises ``PermissionDenied`` for staff without MANAGE_STAFF, for customers without MANAGE_USERS:
    also for the note about themselves.
    """
    for user in users:
        require_private_reader(actor, is_staff=user.is_staff)
    return _texts(ports, models.User.note, users)


@public
def external_references_of_users(
    ports: Ports, actor: Actor, users: Collection[User], proven: Collection[int] = ()
) -> Mapping[int, str]:
    """Return the external reference of each of ``users``, empty for none, in one statement.

    Raises ``PermissionDenied`` unless the caller sees each of them, see ``sees_account``.
    """
    for user in users:
        require_sees_account(actor, user.id, is_staff=user.is_staff, proven=proven)
    return _texts(ports, models.User.external_reference, users)


@building_block
def has_reference(external_reference: str) -> ColumnElement[bool]:
    # No database can be asked for what it cannot hold.
    if not external_reference or not is_storable(external_reference):
        return false()
    return models.User.external_reference == external_reference


def _texts(
    ports: Ports,
    column: InstrumentedAttribute[str] | InstrumentedAttribute[str | None],
    users: Collection[User],
) -> Mapping[int, str]:
    query = select(models.User.id, column.label("text"))
    with ports.database.reading() as session:
        rows = session.execute(query.where(models.User.id.in_([user.id for user in users])))
        return {row.id: row.text or "" for row in rows}


_MAX_METADATA = 100
_FREQUENT = 2000
"""Where counting how many begin with a word stops."""

_NEAR = 10_000
"""Matches of the first word that are looked up to see whether they have the others too."""

_MANY = 100_000
_MOST = 1_000_000
"""Matches of the first word from which on, and of another one up to which, sets are compared."""

_EVERYBODY = UserFilter()
_CUSTOMERS = (False,)
_BY_AGE = (models.User.id,)
_BY_WORD = Order((models.UserWord.word, models.UserWord.user_id))
_ORDER_COUNT = (
    select(func.count())
    .select_from(models.Order)
    .where(models.Order.user_id == models.User.id)
    .scalar_subquery()
)
_SORTS = {
    UserSort.EMAIL: (models.User.email,),
    UserSort.ORDER_COUNT: (_ORDER_COUNT, models.User.email),
    UserSort.FIRST_NAME: (models.User.first_name, models.User.last_name, models.User.id),
    UserSort.LAST_NAME: (models.User.last_name, models.User.first_name, models.User.id),
    UserSort.CREATED_AT: (models.User.date_joined, models.User.id),
    UserSort.LAST_MODIFIED_AT: (models.User.updated_at, models.User.id),
}
_SAID: Mapping[bool, ColumnElement[bool]] = {
    True: literal_column("TRUE"),
    False: literal_column("FALSE"),
}
"""Not as values: an index of those who are locked out is used only by queries that say so."""
_Query = Select[*tuple[object, ...]]


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
    filter_ = UserFilter(search=search, is_active=is_active)
    return _list(ports, actor, page, kinds, filter_)


def _customers(ports: Ports, _actor: Actor, keys: Collection[int]) -> tuple[User, ...]:
    return read_by_keys(ports, _of_kinds_query(*_CUSTOMERS), models.User.id, keys, read_user)


@lists_from_replica(_customers)
@requires(Permission.MANAGE_USERS, Permission.MANAGE_ORDERS)
def list_customers(
    ports: Ports,
    actor: Actor,
    page: PageRequest,
    filter_: UserFilter = _EVERYBODY,
    where: Where[UserFilter] | None = None,
) -> Page[User]:
    """List customers (`customers`), those that match both ``filter_`` and ``where``.

    A search is sorted by its first word unless ``filter_`` says otherwise. ``where`` has
    conditions alone: no search, no order. Only orders that the caller sees count. Refuses as
    ``nested_condition`` does.
    """
    return _list(ports, actor, page, _CUSTOMERS, filter_, where)


@requires(Permission.MANAGE_STAFF)
def list_staff(
    ports: Ports, actor: Actor, page: PageRequest, filter_: UserFilter = _EVERYBODY
) -> Page[User]:
    """List members of the staff (`staffUsers`), sorted as ``list_customers`` does."""
    return _list(ports, actor, page, [True], filter_)


@requires(Permission.MANAGE_STAFF, Permission.MANAGE_USERS)
def find_user(ports: Ports, actor: Actor, email: str) -> User:
    """Return the user with that email; refuses NOT_FOUND on ``email``."""
    with ports.database.reading() as session:
        user = _find(session, _has_email(session, email))
    if user is None:
        message = "No account has the email {email}."
        raise Refused(Problem("NOT_FOUND", message, "email", values={"email": email}))
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
    with ports.database.reading() as session:
        if user_id is not None:
            who = models.User.id == key_of(user_id, "User")
        elif external_reference is not None:
            who = has_reference(external_reference)
        else:
            who = _has_email(session, email or "")
        user = _find(session, who)
    if user is None or not _shows(actor, user):
        return None
    return user


@users_or(Permission.MANAGE_STAFF, Permission.MANAGE_USERS, Permission.MANAGE_ORDERS)
def users_by_key(
    ports: Ports, actor: Actor, keys: Collection[int], emails: Collection[str]
) -> Mapping[int | str, User]:
    """Return the users of those keys and emails whom the caller can see, in one statement.

    They see themselves, and whom ``show_user`` shows.
    """
    spellings = {email: email_spellings(email) for email in emails if is_storable(email)}
    named = models.User.email.in_([one for each in spellings.values() for one in each])
    query = select(*USER_COLUMNS).where(models.User.id.in_(keys) | named)
    if not can_call(actor, show_user):
        query = query.where(models.User.id == actor.user_id)
    with ports.database.reading() as session:
        users = [read_user(row) for row in session.execute(query)]
    by_email = {user.email: user for user in users}
    found: dict[int | str, User] = {user.id: user for user in users}
    for email, spelled in spellings.items():
        # As in `stored_email`, the typed spelling goes before another one.
        user = next((by_email[one] for one in spelled if one in by_email), None)
        if user is not None:
            found[email] = user
    return {
        asked: user
        for asked, user in found.items()
        if user.id == actor.user_id or _shows(actor, user)
    }


def _shows(actor: Actor, user: User) -> bool:
    if user.is_staff:
        return actor.holds(Permission.MANAGE_STAFF)
    return actor.holds(Permission.MANAGE_USERS) or actor.holds(Permission.MANAGE_ORDERS)


def _find(session: Session, who: ColumnElement[bool]) -> User | None:
    row = session.execute(select(*USER_COLUMNS).where(who)).one_or_none()
    return None if row is None else read_user(row)


def _has_email(session: Session, email: str) -> ColumnElement[bool]:
    # No database can be asked for what it cannot hold.
    return models.User.email == (stored_email(session, email) if is_storable(email) else "")


def _list(
    ports: Ports,
    actor: Actor,
    page: PageRequest,
    kinds: Collection[bool],
    filter_: UserFilter,
    where: Where[UserFilter] | None = None,
) -> Page[User]:
    words = read_search(filter_.search)
    if words is None or not kinds:
        return empty_page()
    with ports.database.reading() as session:
        if words and filter_.sort is None:
            query, order = _select_people(session, kinds, words, page)
        else:
            query, order = _select_all(actor, kinds, filter_, words)
        query = with_conditions(query, _conditions(actor, filter_))
        if where is not None:
            query = query.where(nested_condition(where, partial(_conditions, actor)))
        whole = select(models.User.id).where(*_of_kinds(models.User, kinds))
        return read_page(ports, session, query, order, page, read_user, whole)


def _select_all(
    actor: Actor, kinds: Collection[bool], filter_: UserFilter, words: Sequence[str]
) -> tuple[_Query, Order]:
    columns = _BY_AGE if filter_.sort is None else _SORTS[filter_.sort]
    query = _of_kinds_query(*kinds)
    if filter_.sort is UserSort.ORDER_COUNT and not actor.reaches_all_channels:
        columns = (_order_count(actor), models.User.email)
        query = query.where()  # another query: statements of the cached one stay in memory
    if words:
        query = query.where(*(models.User.id.in_(_keys_of_word(kinds, word)) for word in words))
    return query, Order(columns, descending=filter_.descending)


@cache
def _of_kinds_query(*kinds: bool) -> _Query:
    """Return the same query whenever it's asked for, so that its statements are cached."""
    return select(*USER_COLUMNS).where(*_of_kinds(models.User, kinds))


def _select_people(
    session: Session, kinds: Collection[bool], typed: Sequence[str], page: PageRequest
) -> tuple[_Query, Order]:
    """Select people who have, for each of the ``typed`` words, a word that begins with it.

    They are sorted by the first word. A person with two matching words is listed at the earlier
    one.
    """
    (leading, *others), is_frequent = _rarest_first(session, kinds, typed, page)
    entry = models.UserWord
    matching = [_begins(entry.word, leading), *_of_kinds(entry, kinds)]
    if is_frequent and _rarely_meet(session, kinds, matching, others, page):
        both = select(entry).where(*matching, *_in_sets(kinds, others))
        # By itself: below a limit PostgreSQL would look people up one by one.
        source = (
            in_order(both, _BY_WORD, replace(page, cursor=()))
            .cte("matches")
            .prefix_with("MATERIALIZED", dialect="postgresql")
        )
        entry, matching = aliased(models.UserWord, source), []
    else:
        matching += _looked_up(entry.user_id, others)
    earlier = aliased(models.UserWord)
    comes_earlier = exists().where(
        earlier.user_id == entry.user_id, earlier.word >= leading, earlier.word < entry.word
    )
    people = select(*USER_COLUMNS).select_from(entry)
    query = people.join(models.User, models.User.id == entry.user_id)
    return query.where(*matching, ~comes_earlier), Order((entry.word, entry.user_id))


def _rarest_first(
    session: Session, kinds: Collection[bool], words: Sequence[str], page: PageRequest
) -> tuple[Sequence[str], bool]:
    """Return ``words`` with the rarest first, and whether that may have many matches.

    Only its matches are checked for the others. Cursors contain the first word.
    """
    if len(words) == 1:
        return words, False
    place = str(page.cursor[0]) if page.cursor else ""
    began = [word for word in words if place.startswith(word)]
    frequencies = {} if began else _frequencies(session, kinds, words)
    leading = began[0] if began else min(words, key=frequencies.__getitem__)
    others = (word for word in words if word != leading)
    return [leading, *others], frequencies.get(leading, _FREQUENT) == _FREQUENT


def _frequencies(
    session: Session, kinds: Collection[bool], words: Sequence[str]
) -> dict[str, int]:
    """Count how many begin with each of ``words``, up to a limit."""
    counts = (
        select(func.count())
        .select_from(_keys_of_word(kinds, word).limit(_FREQUENT).subquery())
        .scalar_subquery()
        for word in words
    )
    return dict(zip(words, session.execute(select(*counts)).one(), strict=True))


def _rarely_meet(
    session: Session,
    kinds: Collection[bool],
    matching: Sequence[ColumnElement[bool]],
    others: Sequence[str],
    page: PageRequest,
) -> bool:
    """Return whether people are found sooner by comparing sets than by looking up each.

    That is so if the first word has many matches and the next thousands of them don't have the
    other words.
    """
    # SQLite looks up each in any case. Matches of both kinds have no index in their order.
    if session.get_bind().dialect.name != "postgresql" or len(kinds) == len(NEEDED):
        return False
    matches = select(models.UserWord.user_id).where(*matching)
    near = in_order(matches, _BY_WORD, page).limit(_NEAR).subquery()
    meet = select(near.c.user_id).where(*_looked_up(near.c.user_id, others)).exists()
    too_large = (_keys_of_word(kinds, word).offset(_MOST).exists() for word in others)
    many = matches.offset(_MANY).exists()
    return bool(session.scalar(select(and_(~meet, many, ~or_(*too_large)))))


def _keys_of_word(kinds: Collection[bool], word: str) -> Select[int]:
    query = select(models.UserWord.user_id).where(_begins(models.UserWord.word, word))
    return query.where(*_of_kinds(models.UserWord, kinds))


def _in_sets(kinds: Collection[bool], words: Sequence[str]) -> Iterator[ColumnElement[bool]]:
    """Yield whether a person has each of ``words``, as PostgreSQL can join whole sets."""
    for word in words:
        other = aliased(models.UserWord)
        yield exists().where(
            other.user_id == models.UserWord.user_id,
            _begins(other.word, word),
            *_of_kinds(other, kinds),
        )


def _looked_up(
    user_id: ColumnElement[int] | InstrumentedAttribute[int], words: Sequence[str]
) -> Iterator[ColumnElement[bool]]:
    """Yield whether a person has each of ``words``, looked up for each person."""
    for word in words:
        other = aliased(models.UserWord)
        of_person = select(other.user_id).where(
            other.user_id == user_id, _begins(other.word, word)
        )
        # The limit keeps PostgreSQL from gathering everybody who has the other word first.
        yield of_person.limit(1).scalar_subquery().is_not(None)


def _of_kinds(
    record: type[models.User] | type[models.UserWord], kinds: Collection[bool]
) -> Iterator[ColumnElement[bool]]:
    if len(kinds) < len(NEEDED):
        # One kind is an equality, which an index in the list's order begins with.
        yield record.is_staff == next(iter(kinds))


def _begins(column: InstrumentedAttribute[str], beginning: str) -> ColumnElement[bool]:
    return (column >= beginning) & (column < end_of(beginning))


def _orders(actor: Actor) -> Iterator[ColumnElement[bool]]:
    """Yield what the orders of a person meet that ``actor`` sees: those in their channels."""
    yield models.Order.user_id == models.User.id
    if not actor.reaches_all_channels:
        yield is_reached(actor, models.ORDER_CHANNEL)


def _order_count(actor: Actor) -> ScalarSelect[int]:
    if actor.reaches_all_channels:
        return _ORDER_COUNT
    orders = select(func.count()).select_from(models.Order)
    return orders.where(*_orders(actor)).scalar_subquery()


def _conditions(actor: Actor, filter_: UserFilter) -> Iterator[ColumnElement[bool]]:
    if filter_.is_active is not None:
        yield models.User.is_active.is_(_SAID[filter_.is_active])
    if filter_.ids is not None:
        yield models.User.id.in_(filtered_keys(filter_.ids, "User"))
    if filter_.group_id is not None:
        # By another name: the subqueries of a person's own groups use the table too.
        member = aliased(models.GroupMember)
        in_group = select(member.user_id).where(member.group_id == filter_.group_id)
        yield models.User.id.in_(in_group)
    yield from _dates(filter_)
    yield from _order_conditions(actor, filter_)
    yield from _values(filter_)
    yield from _metadata(filter_)
    way = filter_.signs_in_by
    if way is SignInMethod.NO_SIGN_ON:
        yield ~has_sign_on()
    elif way is not None:
        has_password = models.User.password_hash.is_not(None)
        yield has_password if way.has_password else ~has_password
        is_known = is_known_to_provider()
        yield is_known if way.is_known_to_provider else ~is_known


def _dates(filter_: UserFilter) -> Iterator[ColumnElement[bool]]:
    if filter_.joined_at is not None:
        yield from in_range(models.User.date_joined, filter_.joined_at)
    if filter_.updated_at is not None:
        yield from in_range(models.User.updated_at, filter_.updated_at)


def _order_conditions(actor: Actor, filter_: UserFilter) -> Iterator[ColumnElement[bool]]:
    if filter_.ordered_at is not None:
        placed = in_range(models.Order.created_at, filter_.ordered_at)
        yield exists().where(*_orders(actor), *placed)
    if filter_.order_count is not None:
        yield from in_range(_order_count(actor), filter_.order_count)
    if filter_.order_counts is not None:
        yield _order_count(actor).in_(filter_.order_counts)


def _metadata(filter_: UserFilter) -> Iterator[ColumnElement[bool]]:
    if len(filter_.metadata) > _MAX_METADATA:
        message = "Use at most {max_conditions} conditions on metadata; this has {count}."
        limit = {"max_conditions": _MAX_METADATA, "count": len(filter_.metadata)}
        raise Refused(Problem("GRAPHQL_ERROR", message, "metadata", values=limit))
    for key, values in filter_.metadata:
        yield _has_metadata(key, values)


def _values(filter_: UserFilter) -> Iterator[ColumnElement[bool]]:
    if filter_.emails is not None:
        emails = chain.from_iterable(map(email_spellings, _storable(filter_.emails)))
        yield models.User.email.in_(list(emails))
    if filter_.first_names is not None:
        yield models.User.first_name.in_(_storable(filter_.first_names))
    if filter_.last_names is not None:
        yield models.User.last_name.in_(_storable(filter_.last_names))
    address = [*_address(filter_)]
    if address:
        yield exists().where(models.Address.user_id == models.User.id, *address)


def _address(filter_: UserFilter) -> Iterator[ColumnElement[bool]]:
    if filter_.phones is not None:
        yield models.Address.phone.in_(_storable(filter_.phones))
    if filter_.countries is not None:
        yield models.Address.country.in_(filter_.countries)
    if filter_.other_countries is not None:
        yield models.Address.country.not_in(filter_.other_countries)


def _storable(values: Collection[str]) -> list[str]:
    """Return those of ``values`` that a database can be asked for."""
    return [value for value in values if is_storable(value)]


def _has_metadata(key: str, values: Collection[str] | None) -> ColumnElement[bool]:
    # Quotes and backslashes end the path into the JSON; no database can hold the others.
    if not is_storable(key) or set(key) & set('"\\'):
        return false()
    stored: ColumnElement[str] = models.User.public_metadata[key].as_string()
    return stored.is_not(None) if values is None else stored.in_(_storable(values))
