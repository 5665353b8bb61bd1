"""Mutants of the rules about lists: counts, exports, saved filters."""

from tests.mutations.mutant import Mutant

LISTS = (
    Mutant(
        "A text that is too long for a channel isn't repeated for each product",
        "app/graphql/types/products.py",
        "if len(channel) > MAX_SLUG_LENGTH:",
        "if not channel:",
        "hostile/test_entities.py",
    ),
    Mutant(
        "No product has a category",
        "app/services/commerce/products.py",
        "    if filter_.has_other:\n        yield false()",
        "",
        "graphql/test_compatibility.py",
    ),
    Mutant(
        "One of the conditions under OR is enough",
        "app/services/lists/filters.py",
        "conditions.append(or_(*(_nested(part, conditions_of) for part in where.some)))",
        "conditions.append(and_(*(_nested(part, conditions_of) for part in where.some)))",
        "graphql/test_customer_lists.py",
    ),
    Mutant(
        "Conditions under AND apply",
        "app/services/lists/filters.py",
        "conditions += (_nested(part, conditions_of) for part in where.every)",
        "conditions += ()",
        "graphql/test_customer_lists.py",
    ),
    Mutant(
        "Nested conditions are limited",
        "app/services/lists/filters.py",
        "if len(filters) > MAX_CONDITIONS or values > MAX_VALUES:",
        "if values > MAX_VALUES:",
        "graphql/test_customer_lists.py",
    ),
    Mutant(
        "Values of nested conditions are limited",
        "app/services/lists/filters.py",
        "if len(filters) > MAX_CONDITIONS or values > MAX_VALUES:",
        "if len(filters) > MAX_CONDITIONS:",
        "graphql/test_customer_lists.py",
    ),
    Mutant(
        "One failed change of several customers rejects everything",
        "app/services/people/customers.py",
        "        if everything and any(each.problems for each in done):",
        "        if False:",
        "graphql/test_customer_lists.py",
    ),
    Mutant(
        "Lists of several parents are counted apart",
        "app/services/lists/paging.py",
        "    return counts().get(key, 0)",
        "    return sum(counts().values())",
        "services/lists/test_pages_by_parent.py",
    ),
    Mutant(
        "Counting for a page stops at its limit",
        "app/services/lists/paging.py",
        "bounded = some.limit(MAX_COUNTED + 1).subquery()",
        "bounded = some.subquery()",
        "services/lists/test_paging.py",
    ),
    Mutant(
        "No cell of an exported list is a formula",
        "app/console/lists/files.py",
        "map(safe_cell, values)",
        "values",
        "console/test_list_exports.py",
    ),
    Mutant(
        "A saved filter is renamed by its person only",
        "app/services/console/saved_filters.py",
        "select(record).where(mine).with_for_update()",
        "select(record).where(record.id == filter_id).with_for_update()",
        "services/console/test_saved_filters.py",
    ),
    Mutant(
        "Saved filters of a list are limited",
        "app/services/console/saved_filters.py",
        ">= MAX_SAVED:",
        "> MAX_SAVED:",
        "services/console/test_saved_filters.py",
    ),
    Mutant(
        "An invalid filter resends nothing",
        "app/console/integrations/deliveries.py",
        "if requested.invalid:",
        "if False:",
        "console/test_deliveries.py",
    ),
    Mutant(
        "Too many deliveries aren't resent at once",
        "app/services/deliveries/replays.py",
        "if impact.matching > MAX_MATCHING:",
        "if False:",
        "services/deliveries/test_bulk_resend.py",
    ),
)
