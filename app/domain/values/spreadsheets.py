"""Texts that may be opened in a spreadsheet."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def safe_cell(value: str) -> str:
    """Return ``value`` as the cell of a CSV file that no spreadsheet runs as a formula.

    OWASP, "CSV injection".
    """
    return f"'{value}" if value.startswith(_FORMULA) else value
