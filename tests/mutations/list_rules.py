"""Mutants of the rules about lists: counts, exports, saved filters."""

from tests.mutations.mutant import Mutant

LISTS = (
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
        "renamed = update(record).where(mine)",
        "renamed = update(record).where(record.id == filter_id)",
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
