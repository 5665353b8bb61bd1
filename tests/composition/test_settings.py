"""The environment: read once, checked as a whole, every mistake named."""

from pathlib import Path

import pytest

from app.composition.settings import (
    PUBLISHED_SECRET,
    Settings,
    SettingsError,
    load_settings,
    settings_files,
)
from app.domain.sign_in.rate_limits import Rate
from app.domain.values.installation import HeaderNames, Misconfigured
from tests.fixtures.cases import cases

PRODUCTION = {
    "APP_ENV": "production",
    "SECRET_KEY": "s" * 40,
    "PUBLIC_URL": "https://shop.example.com",
    "MAIL_URL": "smtp://mail.example.com",
}


def problems(**environment: str) -> tuple[str, ...]:
    """What is said about ``environment``; fails the test when nothing is."""
    with pytest.raises(SettingsError) as refused:
        load_settings(environment)
    return refused.value.problems


def test_default_is_a_development_installation_on_sqlite() -> None:
    settings = load_settings({})
    assert settings.development
    assert settings.database_url.startswith("sqlite:////")
    assert settings.database_url.endswith("/instance/latchkey.sqlite3")
    assert (settings.jwt_ttl_access, settings.jwt_ttl_refresh) == (300, 30 * 24 * 3600)
    assert settings.reset_password_lock_time == 900
    assert settings.sign_in_log_days == 90
    assert settings.graphql_batch_max == 10
    assert settings.allowed_graphql_origins == ("*",)
    assert not settings.single_use_refresh_tokens


def test_empty_setting_counts_as_absent() -> None:
    names = [
        "APP_ENV",
        "SECRET_KEY",
        "PUBLIC_URL",
        "JWT_TTL_ACCESS",
        "TRUSTED_PROXIES",
        "MAIL_URL",
    ]
    assert load_settings(dict.fromkeys(names, "  ")) == load_settings({})


def test_host_is_accepted_in_any_spelling() -> None:
    hosts = ("shop.example.com", "shop.example.com:8443", "*.example.com", "::1", "[::1]:3000")
    settings = load_settings({"ALLOWED_CLIENT_HOSTS": ", ".join(hosts)})
    assert settings.allowed_client_hosts == hosts


def test_every_setting_can_be_set() -> None:
    settings = load_settings(
        {
            **PRODUCTION,
            "DATABASE_URL": "postgres://shop:secret@db/shop",
            "DATABASE_REPLICA_URL": "postgres://shop:secret@replica/shop",
            "REDIS_URL": "redis://cache:6379/1",
            "VENDOR": "Saleor",
            "PLATFORM_HEADERS": "off",
            "TOKEN_OWNER": "acme",
            "JWT_TTL_ACCESS": "60",
            "JWT_TTL_REFRESH": "120",
            "SINGLE_USE_REFRESH_TOKENS": "yes",
            "RESET_PASSWORD_LOCK_TIME": "0",
            "SIGN_IN_LOG_DAYS": "400",
            "ALLOWED_CLIENT_HOSTS": "shop.example.com, admin.example.com:8443",
            "ALLOWED_GRAPHQL_ORIGINS": "https://shop.example.com",
            "PASSKEY_RP_ID": "Example.com",
            "PASSKEY_ORIGINS": "https://Admin.example.com/, http://localhost:3000",
            "TRUSTED_PROXIES": "10.0.0.0/8, ::1",
            "OUTGOING_ALLOWED_NETWORKS": "127.0.0.0/8",
            "MAIL_URL": "smtps://user:secret@mail.example.com",
            "PLAYGROUND_ENABLED": "off",
            "GRAPHQL_BATCH_MAX": "3",
            "GRAPHQL_MUTATIONS_MAX": "4",
            "GRAPHQL_BODY_MAX": "1000",
            "UPLOAD_MAX": "2000",
            "LOG_LEVEL": "debug",
            "ACCESS_LOG": "on",
            "ACCESS_LOG_SAMPLE": "0.25",
            "OPERATIONS_PORT": "9464",
            "SECURITY_LOG": "stderr",
            "OPERATIONS_HOST": "::1",
        }
    )
    assert settings.database_url == "postgresql://shop:secret@db/shop"
    assert settings.database_replica_url == "postgresql://shop:secret@replica/shop"
    assert settings.redis_url == "redis://cache:6379/1"
    assert settings.single_use_refresh_tokens
    assert settings.reset_password_lock_time == 0
    assert settings.configuration.sign_in_log_days == 400
    assert settings.allowed_client_hosts == ("shop.example.com", "admin.example.com:8443")
    assert [str(network) for network in settings.trusted_proxies] == ["10.0.0.0/8", "::1/128"]
    assert not settings.playground_enabled
    assert (settings.graphql_batch_max, settings.graphql_mutations_max) == (3, 4)
    assert (settings.graphql_body_max, settings.upload_max) == (1000, 2000)
    assert settings.log_level == "DEBUG"
    assert settings.access_log
    assert settings.access_log_sample == 0.25
    assert settings.security_log == "stderr"
    assert (settings.operations_host, settings.operations_port) == ("::1", 9464)
    configuration = settings.configuration
    assert not configuration.development
    assert configuration.issuer == "https://shop.example.com/graphql/"
    assert (configuration.jwt_ttl_access, configuration.jwt_ttl_refresh) == (60, 120)
    assert configuration.header_names == HeaderNames("Saleor", platform=False)
    assert configuration.passkey_rp_id == "example.com"
    assert configuration.passkey_origins == ("https://admin.example.com", "http://localhost:3000")
    assert configuration.token_owners == {"acme", "saleor", "saleor.oauth"}


@cases(
    ("name", "value"),
    [
        ("APP_ENV", "staging"),
        ("DATABASE_URL", "mysql://db/shop"),
        ("DATABASE_URL", "shop.sqlite3"),
        ("DATABASE_REPLICA_URL", "sqlite:///copy.sqlite3"),
        ("REDIS_URL", "http://cache"),
        ("RSA_PRIVATE_KEY", "not a key"),
        ("PUBLIC_URL", "shop.example.com"),
        ("PUBLIC_URL", "ftp://shop.example.com"),
        ("PUBLIC_URL", "https://shop.example.com/?a=1"),
        ("PUBLIC_URL", "https://user@shop.example.com"),
        ("VENDOR", "two words"),
        ("VENDOR", "1st"),
        ("TOKEN_OWNER", "two words"),
        ("JWT_TTL_ACCESS", "0"),
        ("JWT_TTL_ACCESS", "-5"),
        ("JWT_TTL_ACCESS", "5 minutes"),
        ("JWT_TTL_REFRESH", "1e3"),
        ("SINGLE_USE_REFRESH_TOKENS", "perhaps"),
        ("RESET_PASSWORD_LOCK_TIME", "-1"),
        ("SIGN_IN_LOG_DAYS", "0"),
        ("SIGN_IN_LOG_DAYS", "36501"),
        ("ALLOWED_CLIENT_HOSTS", "https://shop.example.com"),
        ("ALLOWED_CLIENT_HOSTS", "shop.example.com, shop.example.com/reset"),
        ("ALLOWED_CLIENT_HOSTS", "*"),
        ("ALLOWED_GRAPHQL_ORIGINS", "shop.example.com"),
        ("PASSKEY_RP_ID", "https://example.com"),
        ("PASSKEY_RP_ID", "192.168.1.10"),
        ("PASSKEY_RP_ID", "example..com"),
        ("PASSKEY_ORIGINS", "*"),
        ("PASSKEY_ORIGINS", "admin.example.com"),
        ("PASSKEY_ORIGINS", "http://admin.example.com"),
        ("PASSKEY_ORIGINS", "https://admin.example.com/sign-in"),
        ("TRUSTED_PROXIES", "10.0.0.1/8"),
        ("TRUSTED_PROXIES", "proxy.example.com"),
        ("OUTGOING_ALLOWED_NETWORKS", "everything"),
        ("MAIL_URL", "mail.example.com"),
        ("MAIL_URL", "http://mail.example.com"),
        ("MAIL_URL", "file:"),
        ("MAIL_URL", "file://mail.example.com/mails.txt"),
        ("PLAYGROUND_ENABLED", "2"),
        ("GRAPHQL_BATCH_MAX", "0"),
        ("GRAPHQL_MUTATIONS_MAX", "many"),
        ("GRAPHQL_BODY_MAX", "1 MiB"),
        ("UPLOAD_MAX", "0"),
        ("LOG_LEVEL", "LOUD"),
        ("ACCESS_LOG_SAMPLE", "1.1"),
        ("ACCESS_LOG_SAMPLE", "nan"),
        ("ACCESS_LOG_SAMPLE", "half"),
        ("OPERATIONS_PORT", "0"),
        ("SECURITY_LOG", "/nowhere/security.log"),
        ("OPERATIONS_PORT", "65536"),
        ("OPERATIONS_PORT", "metrics"),
    ],
)
def test_invalid_setting_is_named(name: str, value: str) -> None:
    [problem] = problems(**{name: value})
    assert problem.startswith(f"{name}: ")


def test_all_invalid_settings_are_named() -> None:
    wrong = {"JWT_TTL_ACCESS": "x", "LOG_LEVEL": "LOUD", "TRUSTED_PROXIES": "y", "VENDOR": "?"}
    with pytest.raises(SettingsError) as refused:
        load_settings(wrong)
    assert {problem.split(":")[0] for problem in refused.value.problems} == set(wrong)
    assert all(f"  - {problem}" in str(refused.value) for problem in refused.value.problems)
    assert isinstance(refused.value, Misconfigured)


def test_production_requires_a_secret_and_a_public_url() -> None:
    secret, address, mail = problems(APP_ENV="production")
    assert secret.startswith("SECRET_KEY: must be set in production")
    assert address.startswith("PUBLIC_URL: must be set in production")
    assert mail.startswith("MAIL_URL: must be set in production")
    [written_out] = problems(**{**PRODUCTION, "SECRET_KEY": PUBLISHED_SECRET})
    assert written_out.startswith("SECRET_KEY: ")
    [short] = problems(**{**PRODUCTION, "SECRET_KEY": "s" * 31})
    assert "at least 32 characters" in short
    assert not load_settings(PRODUCTION).development


@cases(
    ("url", "file"),
    [
        ("file:/var/mail/my%20shop.txt", "/var/mail/my shop.txt"),
        ("file:///var/mail/shop.txt", "/var/mail/shop.txt"),
        ("file:mails.txt", "mails.txt"),
    ],
)
def test_mails_can_be_written_to_a_file(url: str, file: str) -> None:
    assert load_settings({**PRODUCTION, "MAIL_URL": url}).mail_file == Path(file)


def test_mails_go_to_the_instance_folder_in_development() -> None:
    mail_file = load_settings({}).mail_file
    assert mail_file is not None
    assert mail_file.parts[-2:] == ("instance", "mails.txt")
    assert load_settings({"MAIL_URL": "smtps://mail"}).mail_file is None


@cases("rp_id", ["example.org", "hop.example.com", "a.shop.example.com"])
def test_passkeys_are_made_for_the_host_of_the_public_url(rp_id: str) -> None:
    [problem] = problems(**PRODUCTION, PASSKEY_RP_ID=rp_id)
    assert problem.startswith("PASSKEY_RP_ID: must be the host of PUBLIC_URL (shop.example.com)")
    settings = load_settings({**PRODUCTION, "PASSKEY_RP_ID": "example.com"})
    assert settings.passkey_rp_id == "example.com"


def test_refresh_token_outlives_its_access_tokens() -> None:
    [problem] = problems(JWT_TTL_ACCESS="600", JWT_TTL_REFRESH="599")
    assert problem.startswith("JWT_TTL_REFRESH: ")


@cases(
    "written",
    [
        "https://shop.example.com",
        "https://shop.example.com/",
        "https://shop.example.com/graphql",
        "https://shop.example.com/graphql/",
    ],
)
def test_public_url_is_accepted_in_any_spelling(written: str) -> None:
    configuration = load_settings({"PUBLIC_URL": written}).configuration
    assert configuration.issuer == "https://shop.example.com/graphql/"


@cases(
    "wrong",
    [
        {"DATABASE_URL": "mysql://shop:geheim@db/shop"},
        {"DATABASE_REPLICA_URL": "mysql://shop:geheim@replica/shop"},
        {"DATABASE_REPLICA_URL": "postgresql://shop:geheim@replica/shop"},
        {"REDIS_URL": "http://shop:geheim@cache"},
        {"MAIL_URL": "http://shop:geheim@mail"},
        {"RSA_PRIVATE_KEY": "geheim"},
        {"APP_ENV": "production", "SECRET_KEY": "geheim"},
    ],
)
def test_error_messages_repeat_no_secret(wrong: dict[str, str]) -> None:
    assert "geheim" not in str(problems(**wrong))


def test_repr_of_settings_shows_no_secret() -> None:
    secrets = {
        "SECRET_KEY": "geheim" * 8,
        "DATABASE_URL": "postgresql://shop:geheim@db/shop",
        "DATABASE_REPLICA_URL": "postgresql://shop:geheim@replica/shop",
        "REDIS_URL": "redis://shop:geheim@cache",
        "MAIL_URL": "smtp://shop:geheim@mail:25",
        "RSA_PRIVATE_KEY": "-----BEGIN geheim",
    }
    assert "geheim" not in repr(load_settings(secrets))


def test_key_on_one_line_is_split_into_lines() -> None:
    settings = load_settings({"RSA_PRIVATE_KEY": r"-----BEGIN PRIVATE KEY-----\nx\n-----END"})
    assert settings.rsa_private_key.splitlines() == [
        "-----BEGIN PRIVATE KEY-----",
        "x",
        "-----END",
    ]


def test_environment_overrides_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("VENDOR=fromfile\nLOG_LEVEL=ERROR\n# UPLOAD_MAX=1\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VENDOR", "fromprocess")
    settings = load_settings()
    assert (settings.vendor, settings.log_level) == ("fromprocess", "ERROR")
    assert settings.upload_max == Settings().upload_max


def test_file_of_the_current_folder_wins_over_the_one_beside_wsgi(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, inner = tmp_path / "project", tmp_path / "work" / "inner"
    project.mkdir()
    inner.mkdir(parents=True)
    (project / ".env").write_text("VENDOR=beside\nLOG_LEVEL=ERROR\nUPLOAD_MAX=7\n")
    (inner.parent / ".env").write_text("VENDOR=nearest\nUPLOAD_MAX=\n")
    monkeypatch.setattr("app.composition.settings._PROJECT", project)
    monkeypatch.chdir(inner)
    settings = load_settings()
    assert (settings.vendor, settings.log_level) == ("nearest", "ERROR")
    assert settings.upload_max == Settings().upload_max
    assert settings_files() == (inner.parent / ".env", project / ".env")
    monkeypatch.setenv("FLASK_SKIP_DOTENV", "1")
    monkeypatch.setenv("APP_ENV", "development")
    assert settings_files() == ()
    assert load_settings().vendor == Settings().vendor


def test_file_without_a_setting_chooses_no_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("COLOUR=red\nDATABASE_URL_OF_OTHERS=x\n")
    monkeypatch.chdir(tmp_path)
    for name in ("DATABASE_URL", "APP_ENV"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("app.composition.settings._PROJECT", tmp_path / "project")
    (tmp_path / "project").mkdir()
    with pytest.raises(SettingsError, match="No settings found"):
        load_settings()
    (tmp_path / ".env").write_text("VENDOR=nearest\n")
    assert load_settings().vendor == "nearest"


def test_file_that_is_not_text_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_bytes(b"VENDOR=\xff\xfe\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SettingsError, match="isn't UTF-8 text"):
        load_settings()


def test_single_rate_limits_can_be_changed() -> None:
    settings = load_settings(
        {"RATE_LIMITS": "accountRegister=5/minute;50/hour, checkoutCreate = off"}
    )
    assert settings.rate_limits == {
        "accountRegister": (Rate(5, "minute"), Rate(50, "hour")),
        "checkoutCreate": (),
    }


def test_rate_limit_that_is_misspelled_stops_the_start() -> None:
    (unknown,) = problems(RATE_LIMITS="accountRegisters=5/minute")
    assert "unknown limit 'accountRegisters'; available limits: accountRegister," in unknown
    (misspelled,) = problems(RATE_LIMITS="accountRegister=5 a minute")
    assert "must look like 20/minute" in misspelled


def test_sqlite_has_no_replica() -> None:
    (problem,) = problems(DATABASE_REPLICA_URL="postgresql://db/shop")
    assert problem == "DATABASE_REPLICA_URL: needs PostgreSQL in DATABASE_URL, which names SQLite"
    assert load_settings({"DATABASE_URL": "postgresql://db/shop"}).database_replica_url == ""
