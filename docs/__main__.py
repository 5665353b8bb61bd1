"""``python -m docs``: write every page anew."""

import sys

from docs import FOLDER, PAGES

for name, page in PAGES.items():
    (FOLDER / name).write_text(page())
    sys.stdout.write(f"docs/{name}\n")
