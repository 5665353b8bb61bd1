"""Recovery codes: ten for each account, such as ``4kq7-m2xd``, each for one use.

They are written in Crockford's base32, which has no letters that look like digits.
"""

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
NUMBER = 10
"""Codes that an account gets together."""

LENGTH = 8
_HALF = LENGTH // 2
_LOOK_ALIKES = str.maketrans("oil", "011")

RANDOM_BYTES = len(ALPHABET) + NUMBER * (LENGTH - 1)
"""Random bytes that a set of codes is made from."""


def make_recovery_codes(random_bytes: bytes) -> tuple[str, ...]:
    """Return a set of codes from ``RANDOM_BYTES`` random bytes, in order.

    The first character, by which a code is found, differs in each; the others have 5 random bits
    each, 35 in all.
    """
    order, rest = random_bytes[: len(ALPHABET)], random_bytes[len(ALPHABET) :]
    shuffled = [character for _, character in sorted(zip(order, ALPHABET, strict=True))]
    drawn = [ALPHABET[byte % len(ALPHABET)] for byte in rest]
    size = LENGTH - 1
    return tuple(
        selector + "".join(drawn[number * size : (number + 1) * size])
        for number, selector in enumerate(sorted(shuffled[:NUMBER]))
    )


def selector_of(code: str) -> str:
    """Return the character by which a code is found among those of its account."""
    return code[0]


def write_recovery_code(code: str) -> str:
    """Return a code as it is shown: in two halves."""
    return f"{code[:_HALF]}-{code[_HALF:]}"


def read_recovery_code(entered: str) -> str:
    """Return the code that was entered, empty if it can't be a code.

    Case, spaces and hyphens don't count; ``o`` is read as 0, ``i`` and ``l`` as 1.
    """
    code = "".join(entered.split()).replace("-", "").lower().translate(_LOOK_ALIKES)
    return code if len(code) == LENGTH and set(code) <= set(ALPHABET) else ""
