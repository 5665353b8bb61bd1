"""``python -m docs``: write every printed page."""

import sys

from docs import FOLDER, PAGES

for name, page in PAGES.items():
    (FOLDER / name).write_text(page())
    sys.stdout.write(f"docs/{name}\n")
