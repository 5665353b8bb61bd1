"""Where a page stands in its list."""

import graphene

from app.domain.values.pages import Page, make_cursor
from app.graphql.context import Info


class PageInfo(graphene.ObjectType):
    """Pagination info (Relay cursor connections)."""

    has_next_page = graphene.NonNull(graphene.Boolean)
    has_previous_page = graphene.NonNull(graphene.Boolean)
    start_cursor = graphene.String()
    end_cursor = graphene.String()

    def resolve_has_next_page(self: Page[object], _info: Info) -> bool:
        return self.has_next

    def resolve_has_previous_page(self: Page[object], _info: Info) -> bool:
        return self.has_previous

    def resolve_start_cursor(self: Page[object], _info: Info) -> str | None:
        return make_cursor(self.positions[0]) if self.positions else None

    def resolve_end_cursor(self: Page[object], _info: Info) -> str | None:
        return make_cursor(self.positions[-1]) if self.positions else None
