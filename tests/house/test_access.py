"""Deny by default: every public function of the services says who may call it."""

import importlib
import inspect
import pkgutil

import app.services
from app.services.access import REGISTER

_WITHOUT_USE_CASES = {"access"}


def _public_functions() -> set[str]:
    names = set()
    for module in pkgutil.walk_packages(app.services.__path__, "app.services."):
        short = module.name.removeprefix("app.services.")
        loaded = importlib.import_module(module.name)
        names |= {
            f"{short}.{name}"
            for name, value in tuple(vars(loaded).items())
            if inspect.isfunction(value)
            and value.__module__ == module.name
            and not name.startswith("_")
            and short not in _WITHOUT_USE_CASES
        }
    return names


def test_every_public_function_of_the_services_is_declared() -> None:
    functions = _public_functions()

    assert functions, "the services were not found"
    assert functions - set(REGISTER) == set()


def test_the_register_knows_nothing_that_does_not_exist() -> None:
    assert set(REGISTER) - _public_functions() == set()
