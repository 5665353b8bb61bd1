"""Bring every catalogue up to date with the code; with ``compile``, only compile them."""

import sys

from translations.catalogues import TRANSLATED, compile_catalogue, missing, read, update

for _tag in TRANSLATED:
    if sys.argv[1:] != ["compile"]:
        update(_tag)
        print(f"{_tag}: {len(missing(read(_tag)))} untranslated")
    compile_catalogue(_tag)
