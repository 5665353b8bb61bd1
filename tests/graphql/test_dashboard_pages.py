"""What pages of a staff dashboard ask for, by Saleor's names: every document is answered.

The wording is ours; the names are those that Saleor's dashboard selects on these pages.
"""

import pytest

from app.domain.authorization.permissions import ALL_PERMISSIONS, Permission
from app.domain.events import EventType
from app.domain.values.ids import to_global_id
from app.ports import Ports
from tests.builders.apps import make_extension_app
from tests.builders.orders import make_cart, make_order, order_id
from tests.builders.people import make_group, make_staff, make_user, sign_in
from tests.builders.provider_records import make_provider
from tests.builders.webhooks import make_delivery, make_webhook
from tests.graphql.shop_client import ApiClient

PAGE = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
ADDRESS = """
fragment Where on Address { id firstName lastName companyName streetAddress1 streetAddress2 city
  cityArea postalCode country { code country } countryArea phone }
"""
LOGO = "brand { logo { default(size: 64 format: WEBP) } }"
WHOLE_SHOP = """
  companyAddress { ...Where } countries { code country } customerSetPasswordUrl
  defaultMailSenderAddress defaultMailSenderName description domain { host } name
  reserveStockDurationAnonymousUser reserveStockDurationAuthenticatedUser
  limitQuantityPerCheckout enableAccountConfirmationByEmail useLegacyUpdateWebhookEmission
  useLegacyShippingZoneStockAvailability preserveAllAddressFields passwordLoginMode
  allowStorefrontTraffic
"""
DELIVERIES = """
fragment Sent on App {
  webhooks {
    failed: eventDeliveries(
      first: 1 filter: {status: FAILED} sortBy: {field: CREATED_AT direction: DESC}
    ) { edges { node { id createdAt attempts(
      first: 1 sortBy: {field: CREATED_AT direction: DESC}
    ) { edges { node { id status createdAt } } } } } }
  }
}
"""

PAGES = {
    "every page: the shop": """{ shop {
        countries { code country } defaultCountry { code country } defaultWeightUnit
        domain { host url } languages { code language } name permissions { code name } version
    } }""",
    "every page: channels": """{ channels {
        id isActive name slug currencyCode defaultCountry { code country }
        stockSettings { allocationStrategy }
    } }""",
    "every page: the person": """{ me {
        id email firstName lastName isStaff dateJoined metadata { key value }
        userPermissions { code name } avatar(size: 128) { url }
        accessibleChannels { id isActive name slug currencyCode } restrictedAccessToChannels
    } }""",
    "search everywhere": """query ($q: String = "ann", $slug: String) {
        orders(first: 5 search: $q) { edges { node { id number status userEmail } } }
        categories(first: 5 filter: {search: $q}) { edges { node { id name level } } }
        collections(first: 5 channel: $slug filter: {search: $q}) { edges { node { id name } } }
        pages(first: 5 filter: {search: $q}) { edges { node { title pageType { name } } } }
        pageTypes(first: 5 filter: {search: $q}) { edges { node { id name } } }
        productVariants(first: 5 filter: {search: $q}) { edges { node { sku product { id } } } }
        products(first: 5 filter: {search: $q}) {
          edges { node { id name category { name } thumbnail(size: 64) { url } } }
        }
    }""",
    "products": """query (
        $where: ProductWhereInput = {isPublished: true, OR: [{slug: {eq: "cup"}}, {ids: []}]}
    ) { products(first: 5 where: $where sortBy: {field: DATE direction: DESC}) {
        totalCount edges { node {
          id name updatedAt thumbnail { url } productType { id name hasVariants }
          channelListings { id channel { id } pricing { priceRange { start { net { amount } } } } }
          attributes { attribute { id } values { id name } }
        } }
    } }""",
    "a channel": """{ channels {
        checkoutSettings { automaticallyCompleteFullyPaidCheckouts allowLegacyGiftCardUse }
        orderSettings { markAsPaidStrategy deleteExpiredOrdersAfter allowUnpaidOrders }
        paymentSettings { defaultTransactionFlowStrategy } taxConfiguration { id }
        warehouses { id name }
    } warehouses(first: 5 sortBy: {field: NAME direction: ASC}) { edges { node { id } } } }""",
    "orders": """query ($where: OrderWhereInput = {status: {oneOf: [UNCONFIRMED]}}) {
        orders(first: 5 where: $where search: "") {
          edges { node { number created billingAddress { city } total { gross { amount } } } }
        }
    }""",
    "every page: limits": """{ shop { limits {
        currentUsage { channels orders productVariants staffUsers warehouses }
        allowedUsage { channels orders productVariants staffUsers warehouses }
    } } }""",
    "every page: announcements": """{ shop { announcements {
        title messageHtml importance type createdAt updatedAt extra
    } } }""",
    "every page: pins": "{ shop { id metadata { key value } } }",
    "every page: extensions": f"""{{ appExtensions(filter: {{}} first: 100) {{ edges {{ node {{
        id label identifier url mountName targetName settings accessToken permissions {{ code }}
        app {{ id appUrl name {LOGO} }}
    }} }} }} }}""",
    "every page: failing webhooks": f"""{{ apps(first: 50 filter: {{type: THIRDPARTY}}) {{
        edges {{ node {{ id ...Sent }} }}
    }} }} {DELIVERIES}""",
    "every page: problems": """{ apps(first: 50) {
        edges { node { id problems(limit: 1) { __typename } } }
    } }""",
    "home: sales": """{ ordersTotal(period: TODAY channel: "default") {
        gross { amount currency }
    } }""",
    "home: activities": """{ homepageEvents(last: 10) { edges { node {
        date email message orderNumber type user { email }
    } } } }""",
    "home: products": """{ products(
        filter: {stockAvailability: OUT_OF_STOCK} channel: "default"
    ) { totalCount } }""",
    "apps": f"""{{ apps(first: 20 sortBy: {{field: NAME direction: ASC}}) {{
        {PAGE} totalCount
        edges {{ node {{ id name isActive type appUrl manifestUrl version created {LOGO}
            permissions {{ code name }} ...Sent
            problems {{ id key message count isCritical createdAt updatedAt
                dismissed {{ by userEmail }} }} }} }}
    }} }} {DELIVERIES}""",
    "apps: installations": f"""{{ appsInstallations {{
        id status message appName manifestUrl {LOGO}
    }} }}""",
    "app": f"""{{ app(id: "$app") {{
        id name created isActive type homepageUrl appUrl manifestUrl supportUrl version
        accessToken {LOGO} aboutApp author dataPrivacyUrl permissions {{ code name }}
        metadata {{ key value }} privateMetadata {{ key value }} tokens {{ id name authToken }}
        webhooks {{ id name isActive app {{ id name }} syncEvents {{ name eventType }}
            asyncEvents {{ name eventType }} subscriptionQuery customHeaders
            eventDeliveries(first: 10 sortBy: {{field: CREATED_AT direction: DESC}}) {{
                edges {{ node {{ id createdAt status eventType
                    attempts(first: 10 sortBy: {{field: CREATED_AT direction: DESC}}) {{
                        edges {{ node {{ id createdAt status response responseStatusCode }} }}
                    }} }} }}
            }} }}
    }} }}""",
    "webhook": """{ webhook(id: "$webhook") {
        id name isActive secretKey targetUrl subscriptionQuery customHeaders
        syncEvents { name eventType } asyncEvents { name eventType } app { id name }
    } }""",
    "plugins": f"""{{ plugins(first: 20 sortBy: {{field: NAME direction: ASC}}) {{
        {PAGE}
        edges {{ node {{ id name description
            channelConfigurations {{ active channel {{ id name slug }} }}
            globalConfiguration {{ active channel {{ id }} configuration {{
                name type value helpText label }} }} }} }}
    }} }}""",
    "staff": f"""{{ staffUsers(
        first: 20 filter: {{status: ACTIVE}} sortBy: {{field: LAST_NAME direction: ASC}}
    ) {{ {PAGE} totalCount edges {{ cursor node {{
        id email firstName lastName isActive avatar(size: 128) {{ url }} }} }} }} }}""",
    "staff member": """{ user(id: "$staff") {
        id email firstName lastName isActive permissionGroups { id name userCanManage }
        userPermissions { code name } avatar(size: 512) { url }
    } }""",
    "groups": f"""{{ permissionGroups(first: 20) {{
        {PAGE} totalCount edges {{ node {{ id name userCanManage users {{ id }} }} }}
    }} }}""",
    "group": """{ permissionGroup(id: "$group") {
        id name userCanManage restrictedAccessToChannels
        users { id firstName lastName email isActive avatar(size: 128) { url } }
        permissions { code name } accessibleChannels { id name slug isActive currencyCode }
    } }""",
    "customers": f"""{{ customers(first: 20 sortBy: {{field: LAST_NAME direction: ASC}}) {{
        {PAGE} totalCount
        edges {{ node {{ id email firstName lastName orders {{ totalCount }} }} }}
    }} }}""",
    "customers: found and sorted": """{ customers(
        first: 20 filter: {search: "c"} sortBy: {field: LAST_NAME direction: ASC}
    ) { edges { node { id email } } } }""",
    "customer: gift cards": """{
        user(id: "$customer") { id giftCards(first: 5) { edges { node {
          id last4CodeChars expiryDate isActive currentBalance { amount currency }
        } } } }
        giftCardSettings { expiryType expiryPeriod { type amount } }
    }""",
    "customer": f"""{{ user(id: "$customer") {{
        id email firstName lastName isActive isConfirmed note dateJoined lastLogin
        metadata {{ key value }} privateMetadata {{ key value }}
        defaultShippingAddress {{ ...Where }} defaultBillingAddress {{ ...Where }}
        addresses {{ ...Where }}
        orders(last: 5) {{ totalCount edges {{ node {{
            id number created paymentStatus total {{ gross {{ amount currency }} }} }} }} }}
    }} }} {ADDRESS}""",
    "site settings": f"{{ shop {{ {WHOLE_SHOP} }} }} {ADDRESS}",
    "dry run: checkouts": f"""{{ checkouts(first: 20) {{
        {PAGE} edges {{ cursor node {{ id created }} }}
    }} }}""",
    "background: exports": '{ exportFile(id: "RXhwb3J0RmlsZTox") { id status } }',
    "background: invoices": """{ order(id: "$order") {
        id invoices { id number createdAt url status }
    } }""",
    "models": """{ pageType(id: "UGFnZVR5cGU6MQ==") { id name attributes {
        id name slug type inputType entityType unit visibleInStorefront filterableInDashboard
        filterableInStorefront availableInGrid storefrontSearchPosition valueRequired
        referenceTypes { ... on ProductType { id name } ... on PageType { id name } }
        choices(first: 10 search: "") { pageInfo { hasNextPage } edges { cursor node {
            id name slug value reference boolean date dateTime plainText richText
            file { url contentType } } } }
    } } }""",
    "metadata": """mutation { updateMetadata(id: "$app" input: []) {
        errors { code field message }
        item { __typename metadata { key value } ... on Node { id } }
    } }""",
    "site settings: saved": f"""mutation {{
        shopSettingsUpdate(input: {{
            reserveStockDurationAnonymousUser: null limitQuantityPerCheckout: null
            preserveAllAddressFields: true useLegacyUpdateWebhookEmission: true
        }}) {{ errors {{ code field message }} shop {{ {WHOLE_SHOP} }} }}
        shopAddressUpdate(input: null) {{
            errors {{ code field message }} shop {{ companyAddress {{ ...Where }} }} }}
    }} {ADDRESS}""",
}
MAY_BE_DENIED = {
    "orders",
    "search everywhere",
    "apps",
    "apps: installations",
    "app",
    "webhook",
    "plugins",
    "staff",
    "groups",
    "group",
    "customers",
    "customer",
    "customer: gift cards",
    "customers: found and sorted",
    "dry run: checkouts",
    "staff member",
    "every page: failing webhooks",
    "every page: problems",
    "metadata",
    "site settings",
    "site settings: saved",
}
"""Pages that a dashboard doesn't offer to people without the permission."""


@pytest.fixture
def ids(ports: Ports) -> dict[str, str]:
    """A shop with one of everything; the IDs by name."""
    app = make_extension_app(ports, "Stock notes", Permission.MANAGE_PRODUCTS, logo="a" * 32)
    webhook = make_webhook(ports, app.id, EventType.PRODUCT_UPDATED)
    make_delivery(ports, webhook)
    make_provider(ports, "default")
    group = make_group(ports, "Support", Permission.MANAGE_ORDERS)
    make_cart(ports)
    return {
        "app": to_global_id("App", app.id),
        "webhook": to_global_id("Webhook", webhook),
        "group": to_global_id("Group", group),
        "staff": to_global_id("User", make_staff(ports, "s@example.com")),
        "customer": to_global_id("User", make_user(ports, "c@example.com")),
        "order": order_id(make_order(ports)),
    }


def document(title: str, ids: dict[str, str]) -> str:
    text = PAGES[title]
    for name, value in ids.items():
        text = text.replace(f"${name}", value)
    return text


def test_every_page_is_answered_to_a_superuser_and_denied_to_staff_if_it_is_of_others(
    ports: Ports, ids: dict[str, str]
) -> None:
    boss = sign_in(ports, make_staff(ports, "boss@example.com", *ALL_PERMISSIONS)).access
    new = sign_in(ports, make_staff(ports, "new@example.com")).access
    api = ApiClient(ports)
    for title in PAGES:
        asked = document(title, ids)
        errors = api.ask(asked, new).get("errors", [])
        codes = {error["extensions"]["exception"]["code"] for error in errors}
        assert codes <= ({"PermissionDenied"} if title in MAY_BE_DENIED else set()), title
        reply = api.ask(asked, boss)
        assert "errors" not in reply, title
        assert reply["data"], title
        for value in reply["data"].values():
            assert not (isinstance(value, dict) and value.get("errors")), title


def test_total_count_needs_no_page_size_in_any_list(ports: Ports, ids: dict[str, str]) -> None:
    credential = sign_in(ports, make_staff(ports, "boss@example.com", *ALL_PERMISSIONS)).access
    api = ApiClient(ports)
    lists = [
        "apps",
        "appExtensions",
        "plugins",
        "customers",
        "staffUsers",
        "permissionGroups",
        "products",
        "orders",
        "checkouts",
    ]
    counts = api.ask(f"{{ {' '.join(f'{name} {{ totalCount }}' for name in lists)} }}", credential)
    assert "errors" not in counts
    assert all(isinstance(value["totalCount"], int) for value in counts["data"].values())
    nested = f"""{{
        webhook(id: "{ids["webhook"]}") {{ eventDeliveries {{ totalCount }} }}
        user(id: "{ids["customer"]}") {{ orders {{ totalCount }} checkouts {{ totalCount }} }}
    }}"""
    assert api.ask(nested, credential) == {
        "data": {
            "webhook": {"eventDeliveries": {"totalCount": 1}},
            "user": {"orders": {"totalCount": 0}, "checkouts": {"totalCount": 0}},
        }
    }
