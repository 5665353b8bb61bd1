"""The schema: queries and mutations put together."""

import graphene

from app.graphql.descriptions import describe
from app.graphql.events import EVENT_TYPES, Subscription
from app.graphql.federation import FederationQueries
from app.graphql.mutations.accounts import AccountMutations
from app.graphql.mutations.addresses import CustomerAddressMutations, OwnAddressMutations
from app.graphql.mutations.app_tokens import AppTokenMutations
from app.graphql.mutations.apps import AppInstallationMutations, AppMutations
from app.graphql.mutations.avatars import AvatarMutations
from app.graphql.mutations.channels import ChannelMutations
from app.graphql.mutations.checkouts import CheckoutMutations
from app.graphql.mutations.customers import CustomerMutations
from app.graphql.mutations.external import ExternalMutations
from app.graphql.mutations.groups import GroupMutations
from app.graphql.mutations.metadata import MetadataMutations
from app.graphql.mutations.orders import OrderMutations
from app.graphql.mutations.passwords import PasswordMutations
from app.graphql.mutations.plugins import PluginMutations
from app.graphql.mutations.products import ProductMutations
from app.graphql.mutations.second_factors import SecondFactorMutations
from app.graphql.mutations.shop import ShopMutations
from app.graphql.mutations.staff import StaffMutations
from app.graphql.mutations.tokens import SessionMutations, TokenMutations
from app.graphql.mutations.webhooks import DryRunMutations, WebhookMutations
from app.graphql.queries.apps import AppQueries
from app.graphql.queries.groups import GroupQueries
from app.graphql.queries.mails import MailQueries
from app.graphql.queries.plugins import PluginQueries
from app.graphql.queries.products import ProductQueries
from app.graphql.queries.sales import SaleQueries
from app.graphql.queries.shop import ShopQueries
from app.graphql.queries.sign_in_events import SignInEventQueries
from app.graphql.queries.users import UserQueries
from app.graphql.queries.webhooks import WebhookQueries
from app.graphql.unavailable import with_unavailable


@with_unavailable
class Query(
    ShopQueries,
    UserQueries,
    GroupQueries,
    AppQueries,
    ProductQueries,
    SaleQueries,
    PluginQueries,
    WebhookQueries,
    SignInEventQueries,
    MailQueries,
    FederationQueries,
):
    """The queries."""


class Mutation(
    TokenMutations,
    SecondFactorMutations,
    PasswordMutations,
    AccountMutations,
    OwnAddressMutations,
    SessionMutations,
    AvatarMutations,
    StaffMutations,
    CustomerMutations,
    CustomerAddressMutations,
    GroupMutations,
    ChannelMutations,
    MetadataMutations,
    ExternalMutations,
    ShopMutations,
    AppMutations,
    AppTokenMutations,
    AppInstallationMutations,
    ProductMutations,
    CheckoutMutations,
    OrderMutations,
    PluginMutations,
    WebhookMutations,
    DryRunMutations,
):
    """The mutations."""


schema = graphene.Schema(
    query=Query,
    mutation=Mutation,
    subscription=Subscription,
    types=list(EVENT_TYPES.values()),
)
describe(schema.graphql_schema)
