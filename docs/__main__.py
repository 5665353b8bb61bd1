"""``python -m docs``: write every printed page, and the blocks of pages that are in files."""

import sys

from docs import FOLDER, PAGES
from docs.parts import with_files

for name, page in PAGES.items():
    (FOLDER / name).write_text(page())
    sys.stdout.write(f"docs/{name}\n")

for file in sorted(FOLDER.rglob("*.md")):
    text = file.read_text()
    if (current := with_files(text)) != text:
        file.write_text(current)
        sys.stdout.write(f"docs/{file.relative_to(FOLDER)}\n")
