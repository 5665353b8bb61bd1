"""How much one request may ask for: the figures, and the error that names the one exceeded."""

from dataclasses import dataclass

from graphql import GraphQLError

from app.domain.pages import LONGEST_PAGE

CEILING = 1_000_000_000
"""Where counting stops: an operation this large needs no exact figure."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request may ask for, all entries of a batch together (depth and page: each).

    ``depth`` leaves the standard introspection query room, which nests fifteen levels.
    """

    tokens: int = 2000
    depth: int = 16
    aliases: int = 30
    cost: int = 50_000
    page_size: int = LONGEST_PAGE
    mutations: int = 10


@dataclass(frozen=True, slots=True)
class Load:
    """What an operation asks for, fragments counted wherever they are spread.

    ``cost`` is about the number of values in the answer, lists taken at their page size.
    """

    tokens: int = 0
    depth: int = 0
    aliases: int = 0
    cost: int = 0
    page_size: int = 0
    mutations: int = 0

    def __add__(self, other: "Load") -> "Load":
        return Load(
            tokens=self.tokens + other.tokens,
            depth=max(self.depth, other.depth),
            aliases=min(self.aliases + other.aliases, CEILING),
            cost=min(self.cost + other.cost, CEILING),
            page_size=max(self.page_size, other.page_size),
            mutations=min(self.mutations + other.mutations, CEILING),
        )


_TOLD = {
    "tokens": "The request consists of {actual} tokens",
    "depth": "The request nests {actual} levels deep",
    "aliases": "The request uses {actual} aliases",
    "cost": "The request asks for about {actual} values",
    "page_size": "The request asks for pages of {actual} items",
    "mutations": "The request holds {actual} mutations",
}


def exceeded(load: Load, limits: Limits) -> GraphQLError | None:
    """The first of ``limits`` that ``load`` exceeds, as an error that tells limit and figure."""
    if _fits(load, limits):
        return None
    for name, told in _TOLD.items():
        actual, limit = getattr(load, name), getattr(limits, name)
        if actual > limit:
            return limit_error(name, told.format(actual=actual), limit, actual)
    return None


def _fits(load: Load, limits: Limits) -> bool:
    # Written out, for every request passes here.
    return (
        load.tokens <= limits.tokens
        and load.depth <= limits.depth
        and load.aliases <= limits.aliases
        and load.cost <= limits.cost
        and load.page_size <= limits.page_size
        and load.mutations <= limits.mutations
    )


def limit_error(name: str, told: str, limit: int, actual: int | None = None) -> GraphQLError:
    """The error of one limit; ``actual`` is left out where counting stopped early."""
    facts = {"name": name, "limit": limit} | ({} if actual is None else {"actual": actual})
    return GraphQLError(f"{told}; the limit is {limit}.", extensions={"limit": facts})
