"""Texts that a stranger can choose, in emails to others."""

import re

_LINKED = re.compile(r"://|\.(?=[^\W\d_])")


def unlinked(text: str) -> str:
    """Return ``text`` with blanks where mail programs would see a link: ``example com``.

    A program names itself as it likes, as does whoever adds a passkey. A security notice must not
    carry a stranger's link. Version numbers stay.
    """
    return _LINKED.sub(" ", text)
