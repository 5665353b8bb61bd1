"""``.env.example`` explains every setting, and no other."""

import re
from dataclasses import fields

from dotenv import dotenv_values

from app.composition.settings import Settings, load_settings
from tests.house.sources import ROOT

EXAMPLE = ROOT / ".env.example"
SAMPLES = {
    "ALLOWED_CLIENT_HOSTS",
    "DASHBOARD_ORIGIN",
    "DATABASE_URL",  # the default is the same file, wherever the process is started
    "MAIL_TEMPLATES",
    "MAIL_URL",
    "OPERATIONS_PORT",
    "OUTGOING_ALLOWED_NETWORKS",
    "PUBLIC_URL",
    "RATE_LIMITS",
    "RATE_LIMIT_TRUSTED_CLIENTS",
    "OUTGOING_PROXY",
    "PASSKEY_ORIGINS",
    "REDIS_URL",
    "SECURITY_LOG",
    "TRUSTED_PROXIES",
}
"""Of these the default is none, which the example says in words."""

_ASSIGNMENT = re.compile(r"^#?([A-Z][A-Z_]*)=(.*)$", re.MULTILINE)


def _explained() -> dict[str, str]:
    return dict(_ASSIGNMENT.findall(EXAMPLE.read_text()))


def test_every_setting_and_no_other_is_explained() -> None:
    assert sorted(_explained()) == sorted(setting.name.upper() for setting in fields(Settings))


def test_each_setting_has_its_own_comment() -> None:
    blocks = EXAMPLE.read_text().split("\n\n")
    for name in _explained():
        [block] = [block for block in blocks if re.search(rf"^#?{name}=", block, re.MULTILINE)]
        assert block.startswith("# "), name


def test_copy_of_the_example_changes_nothing() -> None:
    written = {name: value for name, value in dotenv_values(EXAMPLE).items() if value}
    assert load_settings(written) == load_settings({})


def test_env_example_shows_defaults_or_samples() -> None:
    default = load_settings({})
    others = {
        name for name, value in _explained().items() if load_settings({name: value}) != default
    }
    assert others == SAMPLES


def test_env_example_values_are_valid() -> None:
    load_settings(_explained())
