"""A Redis that is killed and comes up again, empty, at the same address."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.servers.sandbox import Lodging, Server, wait_until
from tests.servers.valkey import answers, launch


@dataclass(slots=True)
class KilledRedis:
    """What it knew is gone with it: nothing is written to a disk."""

    lodging: Lodging
    server: Server

    @property
    def url(self) -> str:
        return self.server.url

    def kill(self) -> None:
        """End it with SIGKILL, and start it again."""
        process = self.server.process
        process.kill()
        process.wait(180)
        settings = self.lodging.folder / "valkey.conf"
        words = settings.read_text().split()
        again = self.lodging.start(self.program, settings)
        port = int(words[words.index("port") + 1])
        if not wait_until(lambda: answers(port), again):
            raise RuntimeError(f"valkey-server ended with {again.returncode}.")
        self.server = Server(self.server.url, again)

    @property
    def program(self) -> str:
        arguments = self.server.process.args
        if not isinstance(arguments, list):
            raise TypeError("started with a list of words")
        return str(arguments[0])


@contextmanager
def killed_redis(folder: Path) -> Iterator[KilledRedis]:
    """A Redis in ``folder``, killed for good at the end."""
    lodging = Lodging.under(folder, "killed-valkey")
    redis = KilledRedis(lodging, launch(lodging))
    try:
        yield redis
    finally:
        redis.server.process.kill()
        redis.server.process.wait(180)
