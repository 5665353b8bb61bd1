"""The OpenID Connect plugin and linked accounts of the platform, imported and used."""

import pytest
from psycopg.types.json import Jsonb
from sqlalchemy import select

from app import models
from app.domain.authorization.actor import OPERATOR
from app.domain.single_sign_on.providers import Provider
from app.ports import Ports
from app.services.identity.providers import client_secret_of, known_providers
from app.services.single_sign_on.provider_settings import ProviderUpdate, save_provider
from app.services.single_sign_on.sign_in import begin_sign_in
from tests.builders.people import NOBODY
from tests.builders.providers import identities
from tests.fixtures.statements import executions
from tests.imports.importing import import_platform
from tests.imports.platform import PlatformDatabase
from tests.servers.own_provider import AUDIENCE, OwnProvider
from tests.services.provider_bearers import who
from tests.services.provider_logins import begin, codes, grant, sign_in

PLUGIN = "mirumee.authentication.openidconnect"
TABLE = "plugins_pluginconfiguration"
ELSEWHERE = "https://id.example"


def add_plugin(platform: PlatformDatabase, url: str = ELSEWHERE, **changes: object) -> None:
    """Add the plugin as an installation has it whose provider is at ``url``."""
    values: dict[str, object] = {
        "client_id": "shop",
        "client_secret": "the client's secret",
        "enable_refresh_token": True,
        "oauth_authorization_url": f"{url}/authorize",
        "oauth_token_url": f"{url}/token",
        "json_web_key_set_url": f"{url}/keys",
        "oauth_logout_url": f"{url}/logout",
        "user_info_url": f"{url}/userinfo",
        "audience": None,
        "use_oauth_scope_permissions": False,
        "staff_user_domains": "",
        "default_group_name_for_new_staff_users": "",
        **changes,
    }
    configuration = Jsonb([{"name": name, "value": value} for name, value in values.items()])
    platform.add(
        TABLE, id=5, name="OIDC", active=True, identifier=PLUGIN, configuration=configuration
    )


def add_person(
    platform: PlatformDatabase, key: int, subject: object, url: str = ELSEWHERE, **columns: object
) -> None:
    """Add a confirmed person whose private metadata hold ``subject``."""
    metadata = {f"oidc:{url}/authorize": subject, "vip": "yes"}
    platform.add(
        "account_user",
        **{
            "id": key,
            "email": f"person{key}@example.com",
            "is_active": True,
            "is_confirmed": True,
            "private_metadata": metadata,
            **columns,
        },
    )


def default(target: Ports) -> Provider:
    return known_providers(target)[0]


def linked(target: Ports) -> dict[int, str]:
    """Return the subject of each user."""
    columns = select(models.ExternalIdentity.user_id, models.ExternalIdentity.subject)
    with target.database.reading() as session:
        return {row[0]: row[1] for row in session.execute(columns)}


def private_metadata(target: Ports, key: int) -> dict[str, str]:
    query = select(models.User.private_metadata).where(models.User.id == key)
    with target.database.reading() as session:
        return {key: str(value) for key, value in session.scalars(query).one().items()}


def test_person_signs_in_with_sso_as_before_although_the_email_changed(
    target: Ports, platform: PlatformDatabase, other_provider: OwnProvider
) -> None:
    add_plugin(platform, other_provider.url)
    add_person(platform, 42, "alice", other_provider.url)

    report = import_platform(target, platform)

    assert report.findings == []
    assert report.counts("identity_provider") == {"read": 1, "created": 1}
    assert report.counts("external_identity") == {"read": 1, "created": 1}
    assert private_metadata(target, 42) == {"vip": "yes"}
    assert identities(target) == [("default|*", "alice", True)]
    assert sign_in(target, other_provider).user.id == 42
    assert who(target, other_provider.access_token()).actor.user_id == 42
    assert import_platform(target, platform).counts("external_identity") == {
        "read": 1,
        "unchanged": 1,
    }


def test_provider_answers_to_the_platforms_plugin_id_and_keeps_its_scopes(
    target: Ports, platform: PlatformDatabase, other_provider: OwnProvider
) -> None:
    add_plugin(platform, other_provider.url, audience=AUDIENCE, use_oauth_scope_permissions=True)
    import_platform(target, platform)

    provider = default(target)
    assert (provider.slug, provider.name, provider.active) == ("default", "OIDC", True)
    assert client_secret_of(target, provider) == "the client's secret"
    assert "secret" not in provider.client_secret
    redirect = "http://localhost:3000/callback"
    url = begin_sign_in(target, NOBODY, plugin_id=PLUGIN, redirect_uri=redirect)
    assert url is not None
    assert url.startswith(f"{other_provider.url}/authorize?")
    assert "saleor%3Amanage_products" in url
    scope = "openid saleor:manage_products latchkey:manage_users"
    actor = who(target, other_provider.access_token(scope=scope)).actor
    assert {permission.value for permission in actor.permissions} == {"MANAGE_PRODUCTS"}


def test_unconfirmed_persons_link_opens_the_account_only_until_it_is_confirmed(
    target: Ports, platform: PlatformDatabase, other_provider: OwnProvider
) -> None:
    add_plugin(platform, other_provider.url)
    add_person(platform, 1, "alice", other_provider.url, is_confirmed=False)
    import_platform(target, platform)
    assert identities(target) == [("default|*", "alice", False)]
    platform.run("UPDATE account_user SET is_confirmed = true")
    import_platform(target, platform)
    assert identities(target) == [("default|*", "alice", True)]
    platform.run("UPDATE account_user SET is_active = false")
    import_platform(target, platform)
    parameters = begin(target)
    grant(other_provider, parameters)
    assert codes(target, parameters["state"]) == [(None, "INACTIVE")]


@pytest.mark.both_databases
def test_links_of_several_people_are_verified_by_one_statement(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_plugin(platform)
    for key in (1, 2, 3):
        add_person(platform, key, f"subject {key}", is_confirmed=key == 3)
    import_platform(target, platform)
    platform.run("UPDATE account_user SET is_confirmed = true WHERE id < 3")
    with executions() as statements:
        import_platform(target, platform)
    assert [is_verified for _, _, is_verified in identities(target)] == [True, True, True]
    assert sum(each.startswith("UPDATE external_identities ") for each in statements) == 1


def test_shared_and_unusable_subjects_are_linked_to_no_one(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_plugin(platform)
    add_person(platform, 1, "same")
    add_person(platform, 2, "same")
    add_person(platform, 3, "")
    add_person(platform, 4, 7)
    add_person(platform, 5, "own")

    report = import_platform(target, platform)

    assert linked(target) == {5: "own"}
    assert [(key, code) for _, key, code, _ in report.findings] == [
        (1, "SUBJECT_SHARED"),
        (2, "SUBJECT_SHARED"),
        (3, "SUBJECT_INVALID"),
        (4, "SUBJECT_INVALID"),
    ]
    assert private_metadata(target, 1) == {"vip": "yes"}
    add_person(platform, 6, "own")
    import_platform(target, platform)
    assert linked(target) == {}


def test_subject_of_another_account_here_is_not_linked(
    target: Ports, platform: PlatformDatabase, other_provider: OwnProvider
) -> None:
    add_plugin(platform, other_provider.url)
    import_platform(target, platform)
    holder = sign_in(target, other_provider).user.id
    add_person(platform, 3, "alice", other_provider.url)

    report = import_platform(target, platform)

    assert report.reasons("SUBJECT_TAKEN") == [
        f"User {holder} here is linked to the same SSO subject. No account was linked."
    ]
    assert linked(target) == {holder: "alice"}


def test_later_run_takes_over_changed_and_removed_subjects(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_plugin(platform)
    for key, subject in ((1, "a"), (2, "b"), (3, "c")):
        add_person(platform, key, subject)
    import_platform(target, platform)
    with target.database.transaction() as session:
        row = select(models.ExternalIdentity).where(models.ExternalIdentity.user_id == 3)
        session.delete(session.scalars(row).one())
    platform.run("UPDATE account_user SET private_metadata = '{}' WHERE id = 1")
    add_person(platform, 4, "d")
    changed = Jsonb({f"oidc:{ELSEWHERE}/authorize": "e"})
    platform.run("UPDATE account_user SET private_metadata = %s WHERE id > 1 AND id < 4", changed)

    platform.run("UPDATE account_user SET private_metadata = %s WHERE id = 3", Jsonb({}))
    report = import_platform(target, platform)

    assert linked(target) == {2: "e", 4: "d"}
    assert report.counts("external_identity") == {
        "read": 2,
        "created": 1,
        "updated": 1,
        "removed": 1,
    }


def test_provider_that_was_set_up_here_is_kept_and_links_no_one(
    target: Ports, platform: PlatformDatabase
) -> None:
    mine = ProviderUpdate({"client_id": "mine", "oauth_authorization_url": "https://my.example/a"})
    save_provider(target, OPERATOR, "default", mine)
    add_plugin(platform)
    add_person(platform, 1, "a")

    for options in (("--dry-run",), ()):
        report = import_platform(target, platform, *options)
        assert report.findings == [(TABLE, 5, "PROVIDER_SET_UP_HERE", "KEPT")]
        assert default(target).client_id == "mine"
        assert linked(target) == {}


def test_edited_provider_is_kept_and_an_unedited_one_follows_the_source(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_plugin(platform)
    import_platform(target, platform)
    save_provider(target, OPERATOR, "default", ProviderUpdate({"issuer": ELSEWHERE}))
    change = "UPDATE plugins_pluginconfiguration SET active = %s::boolean, name = %s"
    platform.run(change, "false", "Login")
    import_platform(target, platform)
    provider = default(target)
    assert (provider.name, provider.active, provider.issuer) == ("Login", False, ELSEWHERE)

    save_provider(target, OPERATOR, "default", ProviderUpdate({"client_secret": "another"}))
    platform.run(change, "true", "Login")
    report = import_platform(target, platform)
    assert report.findings == [(TABLE, 5, "EDITED_HERE", "KEPT")]
    assert client_secret_of(target, default(target)) == "another"


def test_no_accounts_are_linked_to_another_authorization_url(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_plugin(platform)
    import_platform(target, platform)
    url = ProviderUpdate({"oauth_authorization_url": "https://my.example/authorize"})
    save_provider(target, OPERATOR, "default", url)
    add_person(platform, 1, "a")
    report = import_platform(target, platform)
    assert report.findings == [(TABLE, 5, "PROVIDER_DIFFERS", "LEFT_OUT")]
    assert linked(target) == {}


def test_configured_issuer_gets_the_linked_accounts(
    target: Ports, platform: PlatformDatabase, other_provider: OwnProvider
) -> None:
    add_plugin(platform, other_provider.url)
    add_person(platform, 1, "alice", other_provider.url)
    import_platform(target, platform)
    save_provider(target, OPERATOR, "default", ProviderUpdate({"issuer": other_provider.url}))
    add_person(platform, 2, "bob", other_provider.url)
    import_platform(target, platform)
    assert identities(target) == [
        (other_provider.url, "alice", True),
        (other_provider.url, "bob", True),
    ]
    assert sign_in(target, other_provider, "bob").user.id == 2


def test_subjects_of_other_providers_stay_in_the_metadata(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_plugin(platform)
    add_person(platform, 1, "a", "https://old.example")
    report = import_platform(target, platform)
    [finding] = report.findings
    assert finding[1:] == (
        "oidc:https://old.example/authorize",
        "SUBJECT_OF_OTHER_PROVIDER",
        "IMPORTED",
    )
    assert private_metadata(target, 1) == {"oidc:https://old.example/authorize": "a", "vip": "yes"}
    assert linked(target) == {}


def test_people_without_the_provider_keep_no_subject(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_plugin(platform)
    add_person(platform, 1, "a")
    import_platform(target, platform, "--only", "people")
    assert private_metadata(target, 1) == {"vip": "yes"}
    assert linked(target) == {}
    import_platform(target, platform, "--only", "sso")
    assert linked(target) == {1: "a"}


def test_group_of_new_staff_is_checked_at_the_source(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_plugin(platform, default_group_name_for_new_staff_users="Newcomers")
    report = import_platform(target, platform, "--dry-run")
    assert report.findings == [(TABLE, 5, "DEFAULT_GROUP_MISSING", "IMPORTED")]
    platform.add("account_group", id=1, name="Newcomers", restricted_access_to_channels=True)
    report = import_platform(target, platform)
    assert (TABLE, 5, "DEFAULT_GROUP_RESTRICTED", "LEFT_OUT") in report.findings
    assert default(target).default_group_name_for_new_staff_users == ""


def test_plugin_that_is_gone_leaves_a_disabled_provider(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_plugin(platform)
    add_person(platform, 1, "a")
    import_platform(target, platform)
    platform.run("DELETE FROM plugins_pluginconfiguration")
    import_platform(target, platform)
    with target.database.reading() as session:
        stored = session.scalars(select(models.IdentityProvider)).one()
        assert (stored.active, stored.client_id, stored.client_secret) == (False, "", "")
    assert linked(target) == {1: "a"}


def test_dry_run_reports_the_same_and_writes_nothing(
    target: Ports, platform: PlatformDatabase
) -> None:
    add_plugin(platform, oauth_logout_url="javascript:alert(1)")
    add_person(platform, 1, "a")
    add_person(platform, 2, "")
    dry = import_platform(target, platform, "--dry-run")
    assert default(target).client_id == ""
    assert linked(target) == {}
    wet = import_platform(target, platform)
    assert dry.findings == wet.findings
    for kind in ("identity_provider", "external_identity"):
        assert dry.counts(kind) == wet.counts(kind)
