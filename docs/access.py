"""The page of who can do what, from the register of the use cases."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping

import app.services
from app.services.authorization.register import REGISTER, Declaration, Rule

_DESCRIPTIONS: Mapping[Rule, str] = {
    Rule.PUBLIC: "everyone",
    Rule.ACCOUNT_OWNER: "signed-in people for their own account, not extensions",
    Rule.STAFF: "staff",
    Rule.APPS: "apps",
    Rule.STAFF_AND_APPS: "staff and apps",
    Rule.PERMISSION: "people and apps with",
    Rule.PERMISSION_USERS_ONLY: "people with",
    Rule.USERS_OR_PERMISSION: "signed-in people for their own data, people and apps with",
    Rule.INTERNAL: "the command line and the worker",
}
_PAGE = """\
# Who can do what

Look up the permission that a use case needs. Printed from the declarations of the use cases
(`app/services`); `make docs` regenerates it.

*People with* a permission excludes apps, whatever their permissions. A dashboard extension acts
for a person, with the permissions that both have, but it can't read or change the person's own
account: sessions, password, email, deletion. If several permissions are listed, any of them is
enough. Server administrators can do everything on the command line.

A use case can have more conditions, for example that a person can't grant permissions they don't
have. Its docstring lists them, and `tests/graphql/matrix` tests every operation of the schema with
every kind of caller.

In the console, use cases with a *fresh proof* ask staff for their password, or to sign in again at
their identity provider, unless they did in the last five minutes. The API and the command line
don't ask.

| use case | who | fresh proof |
|---|---|---|
"""


def printed_access() -> str:
    """Every use case, by its name below ``app.services``; their parts are left out."""
    for module in pkgutil.walk_packages(app.services.__path__, "app.services."):
        importlib.import_module(module.name)
    return _PAGE + "".join(_lines())


def _lines() -> Iterator[str]:
    for name, declaration in sorted(REGISTER.items()):
        if declaration.rule is not Rule.BUILDING_BLOCK:
            proof = "" if declaration.proof is None else declaration.proof.condition
            yield f"| `{name}` | {_callers(declaration)} | {proof} |\n"


def _callers(declaration: Declaration) -> str:
    permissions = " or ".join(f"`{one.value}`" for one in declaration.permissions)
    return f"{_DESCRIPTIONS[declaration.rule]} {permissions}".strip()
