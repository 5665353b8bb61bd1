"""A bounded memory, shared by the threads of a process."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from hypothesis import given
from hypothesis import strategies as st

from app.ports.process_cache import BoundedCache

WAIT = 30


def test_entry_is_cached_until_cleared() -> None:
    memory: BoundedCache[str, int] = BoundedCache(10)
    memory.put("a", 1)
    assert memory.get("a") == 1
    assert memory.get("b") is None

    memory.clear()

    assert memory.get("a") is None
    assert len(memory) == 0


def test_put_replaces_an_existing_entry() -> None:
    memory: BoundedCache[str, int] = BoundedCache(10)
    memory.put("a", 1)
    memory.put("a", 2)

    assert memory.get("a") == 2
    assert len(memory) == 1


@given(size=st.integers(min_value=1, max_value=20), keys=st.lists(st.integers(), unique=True))
def test_full_cache_drops_the_oldest_entry(size: int, keys: list[int]) -> None:
    memory: BoundedCache[int, int] = BoundedCache(size)
    for key in keys:
        memory.put(key, key)

    assert [key for key in keys if memory.get(key) is not None] == keys[-size:]


def test_threads_that_write_at_once_never_overfill_it() -> None:
    threads, size = 4, 50
    memory: BoundedCache[int, int] = BoundedCache(size)
    together = Barrier(threads, timeout=60)

    def write(first: int) -> None:
        together.wait(WAIT)
        for key in range(first, first + 2000):
            memory.put(key, key)
            assert memory.get(key) in (key, None)

    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(write, number * 10_000) for number in range(threads)]:
            done.result(WAIT)

    assert len(memory) == size
