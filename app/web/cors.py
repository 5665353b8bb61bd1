"""Cross-origin answers: which web pages may read what the HTTP edges say."""

ANYONE = "*"

_PREFLIGHT_SECONDS = 600


def cors_headers(origin: str | None, allowed: tuple[str, ...]) -> dict[str, str]:
    """Return the headers that let a page of ``origin`` read a response; only Vary otherwise.

    ``allowed`` holds origins as browsers send them (``https://shop.example.com``), or ``*`` for
    all. Never with credentials: requests authenticate with a header that the page's script sets
    (contract, "HTTP": cross-origin). The response depends on the origin, so it has ``Vary``.
    """
    if ANYONE in allowed:
        return {"Access-Control-Allow-Origin": ANYONE}
    if origin is not None and origin in allowed:
        return {"Access-Control-Allow-Origin": origin, "Vary": "Origin"}
    return {"Vary": "Origin"}


def preflight_headers(
    origin: str | None,
    allowed: tuple[str, ...],
    *,
    methods: tuple[str, ...],
    request_headers: tuple[str, ...] = (),
) -> dict[str, str]:
    """What ``OPTIONS`` answers: ``cors_headers`` and, for an allowed origin, what it may send."""
    headers = cors_headers(origin, allowed)
    if "Access-Control-Allow-Origin" not in headers:
        return headers
    headers["Access-Control-Allow-Methods"] = ", ".join(methods)
    headers["Access-Control-Max-Age"] = str(_PREFLIGHT_SECONDS)
    if request_headers:
        headers["Access-Control-Allow-Headers"] = ", ".join(request_headers)
    return headers
