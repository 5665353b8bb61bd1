"""What every test may ask for; the fixtures themselves stand in ``tests/fixtures``."""

from hypothesis import settings

pytest_plugins = [
    "tests.fixtures.engines",
    "tests.fixtures.databases",
    "tests.fixtures.flask_app",
    "tests.fixtures.garbage",
    "tests.fixtures.xdist_groups",
    "tests.fixtures.network",
    "tests.fixtures.slow_tests_first",
    "tests.fixtures.ports",
    "tests.fixtures.providers",
    "tests.fixtures.redis",
    "tests.fixtures.run",
    "tests.fixtures.templates",
]

# A machine that is busy with the other workers is slow now and then; that is no fault of the code.
settings.register_profile("house", deadline=None, print_blob=True)
settings.load_profile("house")
