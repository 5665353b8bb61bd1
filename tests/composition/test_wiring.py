"""Which adapter stands behind each port."""

import ssl
from pathlib import Path

import pytest

from app.adapters.mail.mailer import FileMailer, SmtpMailer
from app.adapters.queue.delivery_queue import connect_queue
from app.adapters.queue.throttle_redis import RedisThrottle
from app.adapters.queue.throttle_sql import SqlThrottle
from app.composition.settings import Settings, SettingsError
from app.composition.wiring import connect, connect_remote_access
from app.domain.deliveries.deliveries import Batch
from app.ports import Ports
from app.ports.http import CallFailed, HttpRequest
from tests.fakes.dns_resolver import resolve
from tests.fakes.strict_http import LOOPBACK
from tests.servers.certificates import certificate_for
from tests.servers.http import Reply, http_server
from tests.servers.proxy import http_proxy


def connected(**settings: str) -> Ports:
    return connect(Settings(database_url="sqlite://", **settings))  # type: ignore[arg-type]


def test_login_attempts_are_counted_in_redis_or_else_the_database() -> None:
    assert isinstance(connected().throttle, SqlThrottle)
    assert isinstance(connected(redis_url="redis://127.0.0.1:1/0").throttle, RedisThrottle)


def test_deliveries_queue_in_redis_or_else_a_file(redis_url: str, tmp_path: Path) -> None:
    batch = Batch("lease", 1, (2, 3))
    connected(redis_url=redis_url).queue.put(batch)
    assert connect_queue(redis_url, tmp_path / "unused").take(1.0) == batch
    url = f"sqlite:///{tmp_path / 'shop.sqlite3'}"
    connect(Settings(database_url=url)).queue.put(batch)
    assert connect_queue("", tmp_path / "shop.sqlite3-queue").take(1.0) == batch


def test_mails_go_to_the_server_or_else_a_file() -> None:
    assert isinstance(connected().mailer, FileMailer)
    assert isinstance(connected(mail_url="smtp://127.0.0.1:25").mailer, SmtpMailer)


def test_unusable_key_is_an_invalid_setting() -> None:
    with pytest.raises(SettingsError, match="RSA_PRIVATE_KEY"):
        connected(rsa_private_key="-----BEGIN nothing")


def test_adapters_are_opened_on_first_use() -> None:
    connect(
        Settings(
            database_url="postgresql://nobody@127.0.0.1:1/nowhere",
            redis_url="redis://127.0.0.1:1/0",
            mail_url="smtp://127.0.0.1:1",
        )
    )


def test_operators_authorities_apply_to_calls_and_to_other_instances(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, chain = certificate_for(tmp_path, "localhost")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(chain)
    with http_server(tls) as server:
        url = server.answer("/", Reply(204)).replace("127.0.0.1", "localhost")
        ours = Settings(
            database_url="sqlite://",
            outgoing_ca_file=str(authority),
            outgoing_allowed_networks=LOOPBACK,
        )
        assert connect(ours).http.send(HttpRequest(url)).status == 204
        with pytest.raises(CallFailed, match="trusted certificate"):
            connect_remote_access().http.send(HttpRequest(url))
        monkeypatch.setenv("OUTGOING_CA_FILE", str(authority))
        assert connect_remote_access().http.send(HttpRequest(url)).status == 204


def test_proxy_is_used_but_for_listed_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    resolve(monkeypatch, lambda: "8.8.8.8")
    with http_proxy() as proxy, http_server() as server:
        direct = server.answer("/", Reply(204))
        by_proxy = f"http://app.example:{server.url.rpartition(':')[2]}/"
        ours = Settings(
            database_url="sqlite://", outgoing_proxy=proxy.url, outgoing_allowed_networks=LOOPBACK
        )
        http = connect(ours).http
        assert http.send(HttpRequest(direct)).status == 204
        assert http.send(HttpRequest(by_proxy, method="POST")).status == 204
        assert proxy.targets == [by_proxy]
        monkeypatch.setenv("OUTGOING_PROXY", proxy.url)
        assert connect_remote_access().http.send(HttpRequest(direct)).status == 204
        connect_remote_access().http.send(HttpRequest(by_proxy, method="POST"))
        assert proxy.targets == [by_proxy, by_proxy]
