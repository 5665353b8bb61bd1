"""Hosts of links and targets are compared as browsers read them, never as other programs might."""

from dataclasses import replace

import pytest

from app.composition.settings import SettingsError, load_settings
from app.domain.authorization.actor import WORKER
from app.domain.single_sign_on.providers import Provider
from app.domain.urls.web_urls import is_same_origin, target_problem
from app.domain.values.errors import Refused
from app.ports import Ports
from app.services.accounts.password_resets import answer_reset_requests, request_password_reset
from app.services.single_sign_on.sign_in import begin_sign_in
from tests.builders.outbox import events, mails
from tests.builders.people import NOBODY, make_user
from tests.fakes.clock import FakeClock
from tests.fixtures.cases import cases
from tests.servers.own_provider import OwnProvider

PLUGIN = "latchkey.authentication.openidconnect"
ALLOWED = ("shop.business.com", "shop.busineß.de", "strasse.example:8443", "*.fussball.example")

OTHER_HOSTS = [
    "https://shop.busineß.com/reset",
    "https://shop.BUSINEẞ.com/reset",
    "https://shop.xn--busine-gta.com/reset",
    "https://shop.business.de/reset",
    "https://straße.example:8443/",
    "https://www.fußball.example/",
    "https://shop.business.com:8443/",
    "https://strasse.example/",
    "http://shop.business.com/",
    "http://shop.business.com:443/",
    "http://localhost:3000/",
    "https:/shop.business.com/",
    "https:shop.business.com/",
    "https:/\\shop.business.com/",
    "https:///shop.business.com/",
    "https://shop.business.com\\@evil.example/",
    "https://evil.example\\@shop.business.com/",
    "https://shop.business.com@evil.example/",
    "https://shop.business.com%2eevil.example/",
    "https://shop%2ebusiness.com/",
    "https://shop.business.com:0/",
    "https://shop.business.com:443@evil.example/",
    "https://shop\u00ad.business.com/",
    "https://shop\t.business.com/",
    "\thttps://shop.business.com/",
    "https://shop.business.com\u2044evil.example/",
    "https://shop.business.com..evil.example/",
    "https://shop.business.com../",
]

LISTED = {
    "https://shop.business.com/reset?x=1#/y": "https://shop.business.com/reset?x=1#/y",
    "HTTPS://SHOP.Business.com:443/": "https://shop.business.com/",
    "https://shop.business.com./": "https://shop.business.com/",
    "https://\uff53hop.business。com/": "https://shop.business.com/",
    "https://shop.busineß.de/größe": "https://shop.xn--busine-gta.de/größe",
    "https://shop.xn--busine-gta.de/": "https://shop.xn--busine-gta.de/",
    "https://strasse.example:8443/": "https://strasse.example:8443/",
    "https://a.b.fussball.example/": "https://a.b.fussball.example/",
}


def _production(ports: Ports) -> Ports:
    configuration = replace(
        ports.configuration, development=False, allowed_client_hosts=ALLOWED, public_url=""
    )
    return replace(ports, configuration=configuration)


def _ask(ports: Ports, url: str) -> str:
    """What a request for a reset link is refused with, or nothing."""
    try:
        request_password_reset(ports, NOBODY, email="customer@example.com", redirect_url=url)
    except Refused as refused:
        return refused.problems[0].code
    return ""


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_reset_link_never_leads_to_a_host_that_only_looks_allowed(ports: Ports) -> None:
    production = _production(ports)
    assert [url for url in OTHER_HOSTS if _ask(production, url) != "INVALID"] == []


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_reset_link_names_the_encoded_host(ports: Ports, clock: FakeClock) -> None:
    make_user(ports)
    production = _production(ports)
    for number, (url, link) in enumerate(LISTED.items(), 1):
        assert _ask(production, url) == "", url

        answer_reset_requests(production, WORKER)
        assert len(mails(ports)) == len(events(ports)) == number
        host = link.removeprefix("https://").partition("/")[0]
        assert str(mails(ports)[-1].values["link"]).startswith(f"https://{host}/"), url
        assert events(ports)[-1].data["redirect_url"] == link
        clock.pass_(hours=1)


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_sign_in_with_a_provider_returns_to_allowed_hosts_only(
    ports: Ports, provider: OwnProvider
) -> None:
    production = _production(ports)

    def is_refused(url: str) -> bool:
        try:
            begin_sign_in(production, NOBODY, plugin_id=PLUGIN, redirect_uri=url)
        except Refused:
            return True
        return False

    assert [url for url in OTHER_HOSTS if not is_refused(url)] == []
    assert [url for url in LISTED if is_refused(url)] == []


@cases(
    "hosts",
    ["shop..example", "xn--zzzz.example", "shop%2eexample", "[::1", "a b", "1.2.3.4.5", "a@b"],
)
def test_unusable_host_stops_the_start(hosts: str) -> None:
    with pytest.raises(SettingsError, match="ALLOWED_CLIENT_HOSTS"):
        load_settings({"ALLOWED_CLIENT_HOSTS": hosts})


def test_cross_origin_settings_are_compared_as_browsers_send_origins() -> None:
    origins = "https://Bücher.example:443, http://localhost:3000/, capacitor://localhost"
    settings = load_settings({"ALLOWED_GRAPHQL_ORIGINS": origins})
    assert settings.allowed_graphql_origins == (
        "https://xn--bcher-kva.example",
        "http://localhost:3000",
        "capacitor://localhost",
    )


def test_staff_domain_is_compared_as_browsers_read_it() -> None:
    provider = Provider(
        1, "a", "A", active=True, staff_user_domains="@business.com, Bücher.example"
    )
    assert not provider.makes_staff("eve@busineß.com")
    assert not provider.makes_staff("eve@evil.example")
    assert not provider.makes_staff("eve@")
    assert provider.makes_staff("ann@business.com")
    assert provider.makes_staff("ann@xn--bcher-kva.example")
    assert provider.makes_staff("ann@bücher.example")


def test_manifest_extension_at_a_folded_host_is_another_origin() -> None:
    assert not is_same_origin("https://app.busineß.com/", "https://app.business.com/")
    assert not is_same_origin("https://user@app.example/", "https://app.example/")
    assert is_same_origin("https://app.busineß.com/x", "https://app.xn--busine-gta.com:443/y")


@cases("host", ["①②⑦.⓪.⓪.①", "127｡0｡0｡1", "0x7f。1", "lOcalhost", "\uff4cocalhost"])
def test_private_host_is_refused_in_every_spelling(host: str) -> None:
    problem = target_problem(f"http://{host}/hook", ())
    assert problem is not None
    assert "private network" in problem.message
