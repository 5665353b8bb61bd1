"""The page of who may do what, from the register of the use cases."""

import importlib
import pkgutil
from collections.abc import Iterator, Mapping

import app.services
from app.services.authorization.register import REGISTER, Declaration, Rule

_DESCRIPTIONS: Mapping[Rule, str] = {
    Rule.PUBLIC: "everybody",
    Rule.USERS: "signed-in people",
    Rule.ACCOUNT_OWNER: "signed-in people for their own account, no extension",
    Rule.STAFF: "staff",
    Rule.APPS: "apps",
    Rule.STAFF_AND_APPS: "staff and apps",
    Rule.PERMISSION: "whoever holds",
    Rule.PERMISSION_USERS_ONLY: "people who hold",
    Rule.USERS_OR_PERMISSION: "signed-in people for what is their own, and whoever holds",
    Rule.INTERNAL: "the shell and the worker",
}
_PAGE = """\
# Who may do what

Printed from the declarations above the use cases (`app/services`); `make docs` writes it anew.
*Whoever holds* means people and apps; *people who hold* no app, whatever it was given. A dashboard
extension counts as the person it acts for, with the permissions that both have, but it can't read
or change what belongs to the person's own account: sessions, password, email, deletion. Of several
permissions any one is enough. Whoever holds the shell may do everything.

A use case may ask for more than stands here: that a thing is the caller's own, that a grant does
not exceed what the granter holds. Its docstring says so, and `tests/graphql/matrix` tells for
every operation of the schema what becomes of every kind of caller.

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
        if declaration.rule is not Rule.PART:
            proof = "" if declaration.proof is None else declaration.proof.condition
            yield f"| `{name}` | {_callers(declaration)} | {proof} |\n"


def _callers(declaration: Declaration) -> str:
    permissions = " or ".join(f"`{one.value}`" for one in declaration.permissions)
    return f"{_DESCRIPTIONS[declaration.rule]} {permissions}".strip()
