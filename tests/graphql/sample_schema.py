"""A small schema with a field for each outcome at the endpoint."""

from typing import Any

import graphene
from graphene.types.generic import GenericScalar
from graphql import GraphQLError, GraphQLResolveInfo

from app.domain.authorization.permissions import Permission
from app.domain.values.errors import (
    PermissionDenied,
    Problem,
    Refused,
    TokenFault,
    TokenRejected,
    TooManyRequests,
    TrafficClosed,
)
from app.domain.values.inputs import Upload
from app.graphql.context import RequestContext
from tests.fakes.clock import FakeClock

SECRET = "postgresql://shop:hunter2@db.internal/shop"
"""The text of an internal error, which clients must never see."""


class UploadScalar(graphene.Scalar):
    """A file."""

    class Meta:
        name = "Upload"

    @staticmethod
    def parse_value(value: object) -> Upload:
        if not isinstance(value, Upload):
            raise GraphQLError("A file is expected.")
        return value


class Author(graphene.ObjectType):
    name = graphene.NonNull(graphene.String)
    books = graphene.NonNull(
        lambda: BookConnection, first=graphene.Int(), last=graphene.Int(), after=graphene.String()
    )
    favourite = graphene.Field(lambda: Book)
    friends = graphene.List(lambda: Author)


class Book(graphene.ObjectType):
    title = graphene.NonNull(graphene.String)
    author = graphene.Field(Author)
    tags = graphene.List(graphene.String)
    reviews = graphene.List(lambda: Book, first=graphene.Int())


class Leaflet(graphene.ObjectType):
    """Fields without resolvers, read from an object's attributes."""

    title = graphene.NonNull(graphene.String)
    pages = graphene.Int()
    missing = graphene.String()
    failing = graphene.String()
    fault = GenericScalar()
    misfit = graphene.Int()
    empty = graphene.NonNull(graphene.String)
    blank = graphene.String()
    nothing = graphene.JSONString()
    author = graphene.Field(Author)
    others = graphene.List(lambda: Leaflet)


class StoredLeaflet:
    """What a ``Leaflet`` is read from."""

    title = "The Tides"
    pages = 4
    fault = RuntimeError("torn")
    misfit = "many"
    empty = None
    blank = None
    nothing = None
    author = None

    @property
    def failing(self) -> str:
        raise RuntimeError(f"cannot connect to {SECRET}")

    @property
    def others(self) -> "list[StoredLeaflet | None]":
        return [StoredLeaflet(), None, StoredLeaflet()]


class BookEdge(graphene.ObjectType):
    node = graphene.Field(Book)


class BookConnection(graphene.ObjectType):
    total_count = graphene.Int()
    edges = graphene.NonNull(graphene.List(graphene.NonNull(BookEdge)))


class Query(graphene.ObjectType):
    greeting = graphene.String(name=graphene.String(), files=graphene.List(UploadScalar))
    always = graphene.NonNull(graphene.String)
    caller = graphene.String()
    book = graphene.Field(Book)
    hollow = graphene.Field(Book)
    leaflet = graphene.Field(Leaflet)
    leaflets = graphene.List(graphene.NonNull(Leaflet))
    books = graphene.Field(
        BookConnection, first=graphene.Int(), last=graphene.Int(), after=graphene.String()
    )
    page = graphene.Field(BookConnection, first=graphene.Int(default_value=20))
    broken = graphene.String()
    broken_always = graphene.NonNull(graphene.String)
    denied = graphene.String()
    rejected = graphene.String()
    refused = graphene.String()
    limited = graphene.String()
    complaint = graphene.String()
    misfit = graphene.Int()
    endless = graphene.List(graphene.String)
    unwritable = GenericScalar()
    closed = graphene.String()

    def resolve_greeting(
        self, _info: GraphQLResolveInfo, name: str = "you", files: list[Upload] | None = None
    ) -> str:
        return f"Hello, {name}" + "".join(
            f" {file.filename}:{len(file.data)}" for file in files or []
        )

    def resolve_always(self, _info: GraphQLResolveInfo) -> str:
        return "always"

    def resolve_caller(self, info: GraphQLResolveInfo) -> str:
        context: RequestContext = info.context
        return context.actor.name or context.actor.kind.value

    def resolve_book(self, _info: GraphQLResolveInfo) -> dict[str, Any]:
        return {"title": "The Moon", "tags": ["a", "b"]}

    def resolve_hollow(self, _info: GraphQLResolveInfo) -> dict[str, Any]:
        return {}

    def resolve_leaflet(self, _info: GraphQLResolveInfo) -> StoredLeaflet:
        return StoredLeaflet()

    def resolve_leaflets(self, _info: GraphQLResolveInfo) -> list[StoredLeaflet]:
        return [StoredLeaflet(), StoredLeaflet()]

    def resolve_broken(self, _info: GraphQLResolveInfo) -> str:
        raise RuntimeError(f"cannot connect to {SECRET}")

    resolve_broken_always = resolve_broken

    def resolve_denied(self, _info: GraphQLResolveInfo) -> str:
        raise PermissionDenied(Permission.MANAGE_APPS, Permission.MANAGE_USERS)

    def resolve_rejected(self, _info: GraphQLResolveInfo) -> str:
        raise TokenRejected(TokenFault.SIGNATURE)

    def resolve_refused(self, _info: GraphQLResolveInfo) -> str:
        raise Refused(Problem("NOT_FOUND", "There is no such thing.", "id"))

    def resolve_limited(self, _info: GraphQLResolveInfo) -> str:
        raise TooManyRequests(30)

    def resolve_complaint(self, _info: GraphQLResolveInfo) -> str:
        raise GraphQLError("Say first or last.")

    def resolve_misfit(self, _info: GraphQLResolveInfo) -> str:
        return SECRET

    def resolve_unwritable(self, _info: GraphQLResolveInfo) -> object:
        return {SECRET}

    def resolve_closed(self, _info: GraphQLResolveInfo) -> str:
        raise TrafficClosed

    def resolve_endless(self, _info: GraphQLResolveInfo) -> int:
        return 5


class Mutation(graphene.ObjectType):
    wait = graphene.Int(description="Lets a second pass, which a test can see.")
    send = graphene.String(file=UploadScalar(required=True), note=graphene.String())
    send_many = graphene.String(files=graphene.List(UploadScalar))

    def resolve_wait(self, info: GraphQLResolveInfo) -> int:
        context: RequestContext = info.context
        clock = context.ports.clock
        assert isinstance(clock, FakeClock)
        clock.pass_(seconds=1)
        return 1

    def resolve_send(
        self, _info: GraphQLResolveInfo, file: Upload, note: str | None = None
    ) -> str:
        return f"{file.filename} {file.content_type} {len(file.data)} {note}"

    def resolve_send_many(self, _info: GraphQLResolveInfo, files: list[Upload]) -> str:
        return " ".join(file.filename for file in files)


class Subscription(graphene.ObjectType):
    ticks = graphene.Int()


LIBRARY = graphene.Schema(query=Query, mutation=Mutation, subscription=Subscription).graphql_schema
