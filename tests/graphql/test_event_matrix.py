"""Every mutation of the schema tells its events, in the transaction of the change, or none."""

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import delete
from structlog.testing import capture_logs

from app import models
from app.domain.events import EVENTS, Deletion, EventType
from app.graphql.schema import schema
from tests.builders.images import png
from tests.builders.outbox import events
from tests.builders.people import make_user, sign_in
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.fixtures.ports import fake_ports
from tests.graphql.matrix.mutations import MUTATIONS
from tests.graphql.matrix.sample_shop import SampleShop
from tests.graphql.shop_client import ApiClient
from tests.graphql.test_permission_matrix import field

pytestmark = pytest.mark.xdist_group("matrix")

TOLD: Mapping[str, str] = {
    "accountRegister": "CUSTOMER_CREATED ACCOUNT_CONFIRMATION_REQUESTED",
    "accountUpdate": "STAFF_UPDATED",
    "accountAddressCreate": "ADDRESS_CREATED STAFF_UPDATED",
    "accountAddressUpdate": "ADDRESS_UPDATED CUSTOMER_UPDATED",
    "accountAddressDelete": "ADDRESS_DELETED CUSTOMER_UPDATED",
    "addressCreate": "ADDRESS_CREATED CUSTOMER_UPDATED",
    "addressUpdate": "ADDRESS_UPDATED CUSTOMER_UPDATED",
    "addressDelete": "ADDRESS_DELETED CUSTOMER_UPDATED",
    "addressSetDefault": "CUSTOMER_UPDATED",
    "updateMetadata of customer": "CUSTOMER_UPDATED CUSTOMER_METADATA_UPDATED",
    "updateMetadata of staff": "STAFF_UPDATED",
    "deleteMetadata of customer": "CUSTOMER_UPDATED CUSTOMER_METADATA_UPDATED",
    "deleteMetadata of staff": "STAFF_UPDATED",
    "updatePrivateMetadata of customer": "CUSTOMER_UPDATED CUSTOMER_METADATA_UPDATED",
    "updatePrivateMetadata of staff": "STAFF_UPDATED",
    "deletePrivateMetadata of customer": "CUSTOMER_UPDATED CUSTOMER_METADATA_UPDATED",
    "deletePrivateMetadata of staff": "STAFF_UPDATED",
    "updateMetadata of shop": "SHOP_METADATA_UPDATED",
    "deleteMetadata of shop": "SHOP_METADATA_UPDATED",
    "updatePrivateMetadata of shop": "SHOP_METADATA_UPDATED",
    "deletePrivateMetadata of shop": "SHOP_METADATA_UPDATED",
    "requestEmailChange": "ACCOUNT_CHANGE_EMAIL_REQUESTED",
    "userAvatarUpdate": "STAFF_UPDATED",
    "customerCreate": "CUSTOMER_CREATED",
    "customerUpdate": "CUSTOMER_UPDATED",
    "customerDelete": "CUSTOMER_DELETED",
    "customerBulkUpdate": "CUSTOMER_UPDATED",
    "customerBulkDelete": "CUSTOMER_DELETED",
    "userBulkSetActive": "CUSTOMER_UPDATED",
    "staffBulkDelete": "STAFF_DELETED",
    "staffCreate": "STAFF_CREATED",
    "staffUpdate": "STAFF_UPDATED",
    "staffDelete": "STAFF_DELETED",
    "permissionGroupCreate": "PERMISSION_GROUP_CREATED",
    "permissionGroupUpdate": "PERMISSION_GROUP_UPDATED",
    "permissionGroupDelete": "PERMISSION_GROUP_DELETED",
    "channelCreate": "CHANNEL_CREATED",
    "channelUpdate": "CHANNEL_UPDATED",
    "channelDelete": "CHANNEL_DELETED",
    "channelActivate": "CHANNEL_STATUS_CHANGED",
    "productCreate": "PRODUCT_CREATED",
    "productUpdate": "PRODUCT_UPDATED",
    "productDelete": "PRODUCT_DELETED",
    "orderConfirm": "ORDER_CONFIRMED ORDER_UPDATED",
    "orderMarkAsPaid": "ORDER_PAID ORDER_UPDATED",
    "orderCancel": "ORDER_CANCELLED ORDER_UPDATED",
    "checkoutCreate": "CHECKOUT_CREATED",
    "checkoutLinesAdd": "CHECKOUT_UPDATED",
    "checkoutLinesUpdate": "CHECKOUT_UPDATED",
    "checkoutLinesDelete": "CHECKOUT_UPDATED",
    "checkoutEmailUpdate": "CHECKOUT_UPDATED",
    "checkoutCustomerAttach": "CHECKOUT_UPDATED",
    "checkoutComplete": "ORDER_CREATED",
    "appCreate": "APP_INSTALLED",
    "appUpdate": "APP_UPDATED",
    "appDelete": "APP_DELETED",
    "appDeactivate": "APP_STATUS_CHANGED",
}
"""What each mutation tells when somebody who may do everything asks for it."""

SILENT: Mapping[str, str] = {
    "it changes nothing that the catalogue has an event for": """
        tokenCreate tokenRefresh tokenVerify tokensDeactivateAll externalAuthenticationUrl
        externalObtainAccessTokens externalRefresh externalVerify externalLogout passwordChange
        sessionEnd sessionsEndOthers shopSettingsUpdate pluginUpdate
        shopLogoUpdate shopLogoDelete mailTemplateSave mailTemplateReset shopAddressUpdate
        appProblemCreate appProblemDismiss
        appTokenCreate appTokenRotate appTokenDelete appTokenVerify appFetchManifest
        appDeleteFailedInstallation webhookCreate webhookUpdate webhookDelete webhookDryRun
        webhookTrigger eventDeliveryRetry webhookReplay webhookSendWaiting secondFactorVerify
        secondFactorChallengeCreate passkeyChallengeCreate passkeyVerify userSecondFactorReset
        emailCodeVerify
    """,
    "the worker tells it, once it is true": """
        requestPasswordReset emailCodeRequest appInstall appRetryInstall
    """,
    "there is nothing to change here: `test_event_register` acts it out": """
        setPassword confirmAccount confirmEmailChange accountDelete userAvatarDelete orderFulfill
        appActivate accountRequestDeletion channelDeactivate sendConfirmationEmail
    """,
    "the caller has no such address: `test_addresses` shows its event": "accountSetDefaultAddress",
}
"""The others, by the reason."""


@pytest.fixture(scope="module")
def file(_migrated_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(_migrated_file, tmp_path_factory.mktemp("told") / "shop.sqlite3"))


@pytest.fixture(scope="module")
def shop(file: Path) -> Iterator[SampleShop]:
    """One for all mutations: each change is put back."""
    ports = fake_ports(f"sqlite:///{file}", FakeClock())
    made = SampleShop(ports, file)
    yield made
    made.close()
    ports.database.close()


@pytest.fixture(scope="module")
def manager(shop: SampleShop) -> str:
    """Return the token of somebody who may do everything."""
    manager = make_user(shop.ports, "boss@example.com", is_superuser=True)
    token = sign_in(shop.ports, manager).access
    with shop.ports.database.transaction() as session:
        session.execute(delete(models.OutboxEvent))
    shop.keep()
    return token


@pytest.fixture
def _no_events(file: Path, shop: SampleShop, manager: str) -> Iterator[None]:
    """Put the table of events out of reach."""
    shop.put_back()
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("ALTER TABLE outbox_events RENAME TO out_of_reach")
        yield
        connection.execute("ALTER TABLE out_of_reach RENAME TO outbox_events")


def ask(shop: SampleShop, credential: str, name: str) -> Any:
    """What a mutation answers, errors and all."""
    call = shop.call(MUTATIONS[name])
    parameters = "($file: Upload!)" if "$file" in call else ""
    query = f"mutation{parameters} {{ {field(name, call)} {{ errors {{ code }} }} }}"
    api = ApiClient(shop.ports)
    return api.upload(query, png(), credential) if parameters else api.ask(query, credential)


def test_every_mutation_is_listed() -> None:
    silent = {name for names in SILENT.values() for name in names.split()}
    loud = {name.partition(" ")[0] for name in TOLD}
    assert schema.graphql_schema.mutation_type is not None
    assert silent | loud == set(schema.graphql_schema.mutation_type.fields)
    assert silent & loud == set()


@cases("name", MUTATIONS)
def test_mutation_publishes_exactly_its_events(shop: SampleShop, manager: str, name: str) -> None:
    ask(shop, manager, name)
    found = events(shop.ports)
    shop.put_back()

    assert [event.type for event in found] == TOLD.get(name, "").split()
    for event in found:
        if issubclass(EVENTS[EventType(event.type)], Deletion):
            snapshot = event.data["snapshot"]
            assert isinstance(snapshot, dict)
            assert snapshot["id"] == event.subject_id


@pytest.mark.usefixtures("_no_events")
@cases("name", TOLD)
def test_failed_event_rolls_back_the_mutation(shop: SampleShop, manager: str, name: str) -> None:
    before = shop.version()

    with capture_logs() as logs:
        response = ask(shop, manager, name)

    is_unchanged = shop.version() == before or not shop.has_other_rows()
    shop.put_back()
    assert response["errors"][0]["message"] == "Internal Server Error"
    assert [log["event"] for log in logs if log["log_level"] == "error"] == ["graphql.fault"]
    assert is_unchanged, "something was changed, and nobody is told"
