"""The addresses of pictures, and what is in them."""

from app.domain.accounts.users import (
    AVATAR_SIZES,
    avatar_path,
    nearest_avatar_size,
    read_avatar_file,
)
from tests.fixtures.cases import cases

NAME = "aB3" * 10 + "xy"


@cases(
    ("requested", "size"),
    [(None, 512), (1, 64), (64, 64), (65, 128), (512, 512), (4096, 512), (0, 64), (-5, 64)],
)
def test_smallest_sharp_size_is_chosen(requested: int | None, size: int) -> None:
    assert nearest_avatar_size(requested) == size


def test_avatar_path_round_trips() -> None:
    for size in AVATAR_SIZES:
        folder, _, file = avatar_path(NAME, size).rpartition("/")
        assert folder == "/media/avatars"
        assert read_avatar_file(file) == (NAME, size)


@cases(
    "file",
    [
        "",
        f"{NAME}.webp",
        f"{NAME}-65.webp",
        f"{NAME}-064.webp",
        f"{NAME}-٦٤.webp",
        f"{NAME}-64.webp\n",
        f"{NAME}-64.svg",
        f"{NAME[:-1]}-64.webp",
        f"../{NAME}-64.webp",
        f"{NAME[:-1]}é-64.webp",
    ],
)
def test_other_paths_are_no_avatar(file: str) -> None:
    assert read_avatar_file(file) is None
