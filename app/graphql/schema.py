"""The schema: queries and mutations put together."""

from collections.abc import Iterator, Mapping

import graphene
from graphql import (
    GraphQLArgument,
    GraphQLField,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
)

from app.domain.authorization.actor import Actor
from app.graphql.events import EVENT_TYPES, Subscription
from app.graphql.federation import FederationQueries
from app.graphql.root_fields.accounts import AccountMutations, AvatarMutations, PasswordMutations
from app.graphql.root_fields.addresses import CustomerAddressMutations, OwnAddressMutations
from app.graphql.root_fields.apps import AppInstallationMutations, AppMutations, AppQueries
from app.graphql.root_fields.customers import CustomerMutations
from app.graphql.root_fields.groups import GroupMutations, GroupQueries
from app.graphql.root_fields.metadata import MetadataMutations
from app.graphql.root_fields.products import ProductMutations, ProductQueries
from app.graphql.root_fields.sales import CheckoutMutations, OrderMutations, SaleQueries
from app.graphql.root_fields.shop import ChannelMutations, MailQueries, ShopMutations, ShopQueries
from app.graphql.root_fields.sign_in_events import SignInEventQueries
from app.graphql.root_fields.single_sign_on import (
    ExternalMutations,
    PluginMutations,
    PluginQueries,
)
from app.graphql.root_fields.tokens import (
    AppTokenMutations,
    EmailCodeMutations,
    SecondFactorMutations,
    SessionMutations,
    TokenMutations,
)
from app.graphql.root_fields.users import StaffMutations, UserQueries
from app.graphql.root_fields.webhooks import DryRunMutations, WebhookMutations, WebhookQueries
from app.graphql.server.endpoint import GraphqlEndpoint
from app.graphql.server.query_cost import WEBHOOKS
from app.graphql.unavailable import IMPLEMENTATIONS, with_unavailable
from app.ports import Ports
from app.services.authorization.register import can_call
from app.services.webhooks.lists import count_webhooks
from app.web.installation import Installation

Described = GraphQLField | GraphQLInputField | GraphQLArgument

_VALUES = {
    "active": "Whether the plugin is active.",
    "appName": "The name of the app.",
    "description": "The description.",
    "email": "The email.",
    "eventType": "The event's type.",
    "firstName": "The given name.",
    "isActive": "Whether it is active.",
    "isConfirmed": "Whether the email is confirmed.",
    "key": "The key.",
    "lastName": "The family name.",
    "lines": "The products and their quantities.",
    "manifestUrl": "The URL of the app's manifest.",
    "name": "The name.",
    "paymentStatus": "How much of the order is paid.",
    "permissions": "The permissions.",
    "quantity": "The number of items.",
    "status": "The status.",
    "type": "The type.",
    "value": "The value.",
}
"""What fields of objects and of inputs alike are."""

_FIELDS: Mapping[str, str] = {
    **_VALUES,
    "about": "What the app does.",
    "aboutApp": "What the app does.",
    "accountType": "Whether it was a customer's or a staff member's account.",
    "address": "The address.",
    "allowStorefrontTraffic": "Whether customers and anonymous callers can use the API.",
    "alt": "The alternative text.",
    "amount": "The amount, in units of the currency.",
    "app": "The app.",
    "appId": "The ID of the app.",
    "appInstallation": "The installation.",
    "appToken": "The token's record, without the token.",
    "appUrl": "The URL of the app's page in the dashboard.",
    "asyncEvents": "The asynchronous events it is subscribed to.",
    "audience": "The audience that the app expects in its tokens.",
    "authToken": "The token. It is shown only here.",
    "authenticationData": "JSON with `authorizationUrl`: where to send the person to sign in.",
    "author": "Who publishes the app.",
    "availableExternalAuthentications": "The identity providers that people can sign in with.",
    "channel": "The channel.",
    "checkout": "The cart.",
    "code": "The error code.",
    "created": "When it was created.",
    "createdAt": "When it was created.",
    "cursor": "The item's place in the list, for `before` and `after`.",
    "customHeaders": "Headers sent with each delivery, as a JSON object.",
    "dataPrivacyUrl": "The URL of the app's privacy policy.",
    "dateJoined": "When the account was created.",
    "delivery": "The delivery.",
    "edges": "The items of the page.",
    "endCursor": "The cursor of the last item; null on an empty page.",
    "events": "The events it is subscribed to.",
    "extensions": "The app's extensions of the dashboard.",
    "globalConfiguration": "The plugin's configuration, the same for the whole shop.",
    "gross": "The amount with taxes.",
    "group": "The permission group.",
    "groups": "The IDs of the permission groups that the problem is about.",
    "hasNextPage": "Whether there are items after this page.",
    "hasPreviousPage": "Whether there are items before this page.",
    "helpText": "What the setting does.",
    "homepageUrl": "The URL of the app's home page.",
    "id": "The global ID.",
    "identifier": "The identifier given by its app's manifest.",
    "isPaid": "Whether the order is paid in full.",
    "isValid": "Whether the token is valid.",
    "issuedAt": "When the event occurred.",
    "item": "The object after the change.",
    "label": "The name to display.",
    "lastLogin": "When the person last signed in; null if never.",
    "lastUsedAddress": "The IP address of the last request with it.",
    "logoutData": "JSON with `logoutUrl`: where to send the person to sign out at the provider.",
    "manifest": "The manifest.",
    "message": "What is wrong, in English.",
    "method": "How it was tried: password, SSO, emailed link, refresh or app token.",
    "mountName": "The place in the dashboard where it appears.",
    "net": "The amount without taxes.",
    "node": "The item.",
    "number": "The order number.",
    "order": "The order.",
    "pageInfo": "Whether there are more items, and the cursors of this page.",
    "passwordLoginMode": "Who can sign in with a password.",
    "payload": "The body that was sent.",
    "permissionGroup": "The permission group.",
    "permissionGroups": "The permission groups of the person.",
    "plugin": "The plugin after the change.",
    "product": "The product.",
    "productName": "The product's name when it was added.",
    "query": "The subscription query.",
    "responseStatusCode": "The HTTP status of the response; null if there was none.",
    "result": "Whether the person or app got in.",
    "schemaVersion": "The version of the API.",
    "settings": "Further settings of the extension.",
    "shop": "The shop after the change.",
    "startCursor": "The cursor of the first item; null on an empty page.",
    "supportUrl": "The URL of the app's support page.",
    "syncEvents": "The synchronous events it is subscribed to.",
    "targetName": "How the dashboard opens it.",
    "targetUrl": "The URL that deliveries are sent to.",
    "tax": "The part of the amount that is tax.",
    "token": "The access token.",
    "total": "The price of the whole order.",
    "totalPrice": "The price of all items.",
    "unitPrice": "The price of one item.",
    "updatedAt": "When it last changed.",
    "url": "The URL.",
    "user": "The user.",
    "userId": "The ID of the user.",
    "users": "The IDs of the users that the problem is about.",
    "valid": "Whether the token is valid.",
    "verifyData": "The claims of the token; empty if it isn't valid.",
    "version": "The version.",
    "webhook": "The webhook.",
    "webhooks": "The webhooks that the app wants.",
    "AppManifestExtension.permissions": "The permissions that its token needs.",
    "Order.status": "The order's progress.",
    "Permission.code": "The permission.",
    "UserPermission.code": "The permission.",
    "UserPermission.name": "The permission in words.",
    "Permission.name": "The permission in words.",
    "PermissionGroupError.permissions": "The permissions that the problem is about.",
    "StaffError.permissions": "The permissions that the problem is about.",
    "Plugin.description": "What the plugin does.",
    "VerifyToken.payload": "The token's claims.",
}

_ARGUMENTS: Mapping[str, str] = {
    "after": "Return items after this cursor.",
    "before": "Return items before this cursor.",
    "challenge": "The challenge to answer.",
    "email": "The email of the account.",
    "filter": "Return only items that match.",
    "first": "Return this many items from the start, at most 100.",
    "id": "The global ID of the object.",
    "identifier": "The webhook's identifier, in place of its ID.",
    "image": "The picture, sent as multipart form data.",
    "input": "The values.",
    "key": "The key.",
    "keys": "The keys.",
    "last": "Return this many items from the end, at most 100.",
    "lines": "The products and their quantities.",
    "linesIds": "The IDs of the lines.",
    "manifestUrl": "The URL of the app's manifest.",
    "newEmail": "The new email.",
    "newPassword": "The new password.",
    "objectId": "The global ID of the object that the event is about.",
    "oldPassword": "The current password.",
    "order": "The global ID of the order.",
    "password": "The password.",
    "pluginId": "The plugin's ID: `<word>.authentication.openidconnect`.",
    "query": "The subscription query.",
    "refreshToken": "The refresh token.",
    "since": "The earliest time of the events to send again.",
    "size": "The pixels of a side.",
    "slug": "The slug, in place of the ID.",
    "sortBy": "The order of the items.",
    "token": "The token.",
    "userId": "The global ID of the user.",
    "webhookId": "The global ID of the webhook.",
    "confirmAccount.token": "The token of the emailed link.",
    "confirmEmailChange.token": "The token of the emailed link.",
    "accountDelete.token": "The token of the emailed link.",
    "secondFactorVerify.code": "A code of the authenticator app, or a recovery code.",
    "emailCodeRequest.audience": "The audience of the tokens, as that of `tokenCreate`.",
    "emailCodeRequest.email": "The email to send the code to.",
    "emailCodeVerify.code": "The six digits.",
    "passkeyChallengeCreate.challenge": "The challenge to answer; none to sign in.",
    "passkeyVerify.credential": "JSON of what `navigator.credentials.get` returned.",
    "setPassword.token": "The token of the emailed link.",
    "setPassword.password": "The new password.",
    "requestEmailChange.password": "The current password.",
    "checkoutEmailUpdate.email": "The email of the cart.",
    "externalAuthenticationUrl.input": "JSON with `redirectUri`: where to return.",
    "externalObtainAccessTokens.input": "JSON with `code` and `state` from the provider.",
    "externalRefresh.input": "JSON with `refreshToken`.",
    "externalLogout.input": "JSON whose members are copied into the logout URL.",
    "externalVerify.input": "JSON with `token`.",
}

_INPUTS: Mapping[str, str] = {
    **_VALUES,
    "accountType": "Customers' or staff accounts only.",
    "addGroups": "The IDs of permission groups to join.",
    "addPermissions": "The permissions to add.",
    "addUsers": "The IDs of users to add.",
    "app": "The global ID of the app.",
    "appId": "The global ID of an app.",
    "at": "The time of the last attempt.",
    "configuration": "The settings to change; omitted settings keep their values.",
    "created": "The day of creation.",
    "direction": "Ascending or descending.",
    "field": "The field to sort by.",
    "gte": "The start of the range.",
    "identifier": "The app's identifier.",
    "ids": "The global IDs.",
    "isPublished": "Whether customers can see it.",
    "lte": "The end of the range.",
    "method": "How it was tried.",
    "password": "The password.",
    "price": "The price.",
    "productId": "The global ID of the product.",
    "reason": "Why the attempt failed.",
    "removeGroups": "The IDs of permission groups to leave.",
    "removePermissions": "The permissions to remove.",
    "removeUsers": "The IDs of users to remove.",
    "result": "Successful or failed attempts only.",
    "slug": "The name in URLs.",
    "slugs": "The slugs.",
    "targetName": "How the dashboard opens the extension.",
    "updatedAt": "The time of the last change.",
    "userId": "The global ID of a user.",
}


def describe(schema: GraphQLSchema) -> None:
    """Add the descriptions above to what has none."""
    for table, names, described in describables(schema):
        if not described.description:
            described.description = next(filter(None, map(table.get, names)), None)


def describables(
    schema: GraphQLSchema,
) -> Iterator[tuple[Mapping[str, str], tuple[str, str], Described]]:
    """Yield all fields and arguments, with their names in the table that can describe them."""
    for kind in schema.type_map.values():
        if kind.name.startswith("__"):
            continue
        if isinstance(kind, GraphQLInputObjectType):
            for name, entry in kind.fields.items():
                yield _INPUTS, (f"{kind.name}.{name}", name), entry
        elif isinstance(kind, GraphQLObjectType | GraphQLInterfaceType):
            for name, field in kind.fields.items():
                yield _FIELDS, (f"{kind.name}.{name}", name), field
                for argument, taken in field.args.items():
                    yield _ARGUMENTS, (f"{name}.{argument}", argument), taken


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
    EmailCodeMutations,
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
    types=[*EVENT_TYPES.values(), *IMPLEMENTATIONS],
)
describe(schema.graphql_schema)


def create_endpoint(installation: Installation) -> GraphqlEndpoint:
    """The WSGI application behind ``/graphql/``."""
    return GraphqlEndpoint(installation, schema.graphql_schema, count_stored=_count_stored)


def _count_stored(ports: Ports, actor: Actor) -> Mapping[str, int]:
    """Count the webhooks that are returned to a person of the staff: all or, refused, none.

    Unknown for all others: a limit would tell how many there are.
    """
    if can_call(actor, count_webhooks):
        return {WEBHOOKS: count_webhooks(ports, actor)}
    return {WEBHOOKS: 0} if actor.is_account_owner and actor.is_staff else {}
