"""``flask webhook verify``, given what a server received."""

import json
from pathlib import Path

from click.testing import Result

from tests.commands.shell import run
from tests.commands.webhooks.paired_shops import Shops
from tests.servers.http import Received


def verify(
    shops: Shops, folder: Path, received: Received, *more: str, distant: bool = False
) -> Result:
    """``flask webhook verify`` of what was received, from files."""
    (folder / "body").write_bytes(received.body)
    (folder / "headers").write_text(json.dumps(received.headers))
    words = ("webhook", "verify", str(folder / "body"), "--headers", str(folder / "headers"))
    if distant:
        return shops.remote_only(*words, *more)
    return run(shops.local, *words, *more, remote_access=shops.remote_access)
