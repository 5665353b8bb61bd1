"""The columns of the matrix, the rules that stand in its rows, and what a mark in them means.

A rule is a line of marks, one for each kind of caller. *With* is somebody who holds one of the
row's permissions and nothing else (each in turn), or a superuser; *without* somebody who holds
every permission but these. An extension *without* is one where either side lacks them.
"""

from dataclasses import dataclass, field

from app.domain.authorization.permissions import Caller, Permission

FINE, DENIED, NONE, SPECIAL = "+", "-", "o", "!"
"""Let in; ``PermissionDenied``; told that there is no such thing; refused with the rule's code."""

COLUMNS = (
    "anonymous",
    "customer",
    "staff without",
    "staff with",
    "app without",
    "app with",
    "extension without",
    "extension with",
)


@dataclass(frozen=True, slots=True)
class Rule:
    """Marks in the order of ``COLUMNS``, and what a denial may name beside the row's permissions.

    ``code`` is the code that those are refused with whose mark is "!".
    """

    marks: str
    kinds: tuple[Caller | Permission, ...] = ()
    code: str = ""

    @property
    def outcomes(self) -> dict[str, str]:
        return dict(zip(COLUMNS, self.marks.split(), strict=True))


#                                 anonymous
#                                 . customer
#                                 . . staff without
#                                 . . . staff with
#                                 . . . . app without
#                                 . . . . . app with
#                                 . . . . . . extension without
#                                 . . . . . . . extension with
EVERYBODY = Rule("                + + + + + + + +")
SIGNED_IN = Rule("                o + + + o o + +")
THEMSELVES = Rule("               - + + + - - - -", (Caller.USER,))
STAFF = Rule("                    - - + + - - + +", (Caller.STAFF,))
APPS = Rule("                     - - - - + + - -", (Caller.APP,))
STAFF_AND_APPS = Rule("           - - + + + + + +", (Caller.STAFF, Caller.APP))
HOLDERS = Rule("                  - - - + - + - +")
HOLDING_PEOPLE = Rule("           - - - + - - - +")
APP_MANAGERS = Rule("             - - - + - - - -")
APP_MANAGERS_BUT_NO_APP = Rule("  - - - + - ! - -", code="OUT_OF_SCOPE_APP")
ANY_WEBHOOK = Rule("              - - - + o o - -", (Caller.STAFF, Caller.APP))
OWN_WEBHOOK = Rule("              - - - + + + - -", (Caller.STAFF, Caller.APP))
"""An extension manages no apps, whatever its app was given, and nobody's account; an app only its
own webhooks, with no permission at all."""


@dataclass(frozen=True, slots=True)
class Row:
    """One operation; ``call`` is written with the names of what there is in the ``World``.

    ``codes`` are the codes of the refusal that ends it for whoever is let in, where the least
    that can be sent is not good enough. ``beside`` is what *with* must hold, too, to get so far.
    """

    rule: Rule
    call: str
    permissions: tuple[Permission, ...] = ()
    codes: tuple[str, ...] = ()
    beside: frozenset[Permission] = field(default_factory=frozenset)
