"""The languages that emails are written in."""

from collections.abc import Mapping

SHIPPED_LANGUAGES: Mapping[str, str] = {
    "EN": "English",
    "DE": "Deutsch",
    "FR": "Français",
    "ES": "Español",
    "PL": "Polski",
    "AR": "العربية",
}
"""Each language by its code, in its own words."""
