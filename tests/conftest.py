"""Registers the fixtures of ``tests/fixtures`` for every test."""

import signal

from hypothesis import settings

pytest_plugins = [
    "tests.fixtures.audit_fields",
    "tests.fixtures.garbage",
    "tests.fixtures.engines",
    "tests.fixtures.databases",
    "tests.fixtures.kept_application",
    "tests.fixtures.flask_app",
    "tests.fixtures.cheap_hashes",
    "tests.fixtures.xdist_groups",
    "tests.fixtures.network",
    "tests.fixtures.one_of_each",
    "tests.fixtures.slow_tests_first",
    "tests.fixtures.ports",
    "tests.fixtures.providers",
    "tests.fixtures.redis",
    "tests.fixtures.replica",
    "tests.fixtures.run",
    "tests.fixtures.translations",
    "tests.fixtures.compiled",
    "tests.fixtures.imports",
]

# A shell lets what it starts in the background ignore Ctrl-C, and nohup lets it ignore SIGHUP.
# Programs inherit that: one that a test interrupts would never end, or reload.
for number, default in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, default)

# On a busy machine some examples are slow; that isn't a defect of the code.
settings.register_profile("house", deadline=None, print_blob=True)
settings.register_profile("some", settings.get_profile("house"), max_examples=30)
settings.load_profile("house")
