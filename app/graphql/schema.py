"""The schema: queries and mutations put together."""

import graphene

from app.graphql.mutations.accounts import AccountMutations
from app.graphql.mutations.external import ExternalMutations
from app.graphql.mutations.passwords import PasswordMutations
from app.graphql.mutations.plugins import PluginMutations
from app.graphql.mutations.products import ProductMutations
from app.graphql.mutations.sessions import SessionMutations
from app.graphql.mutations.shop import ShopMutations
from app.graphql.mutations.tokens import TokenMutations
from app.graphql.queries.plugins import PluginQueries
from app.graphql.queries.products import ProductQueries
from app.graphql.queries.shop import ShopQueries
from app.graphql.queries.users import UserQueries


class Query(ShopQueries, UserQueries, ProductQueries, PluginQueries):
    """What can be asked."""


class Mutation(
    TokenMutations,
    PasswordMutations,
    AccountMutations,
    SessionMutations,
    ExternalMutations,
    ShopMutations,
    ProductMutations,
    PluginMutations,
):
    """What can be changed."""


schema = graphene.Schema(query=Query, mutation=Mutation)
