"""Cross-origin answers: which web pages may read what the HTTP edges say."""

ANYONE = "*"

_PREFLIGHT_SECONDS = 600


def cors_headers(origin: str | None, allowed: tuple[str, ...]) -> dict[str, str]:
    """Return the headers that let a page of ``origin`` read a response; only Vary otherwise.

    ``allowed`` holds origins as browsers send them (``https://shop.example.com``), or ``*`` for
    all. Credentials are allowed to origins listed by name, since Saleor's dashboard sends every
    request with them, never for ``*``; the API reads no cookie (contract, part 4). The response
    depends on the origin, so it has ``Vary``.
    """
    if origin is not None and origin in allowed and origin != ANYONE:
        return {
            "Access-Control-Allow-Origin": origin,
            "Access-Control-Allow-Credentials": "true",
            "Vary": "Origin",
        }
    if allowed == (ANYONE,):
        return {"Access-Control-Allow-Origin": ANYONE}
    named = {"Vary": "Origin"}
    return {"Access-Control-Allow-Origin": ANYONE, **named} if ANYONE in allowed else named


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
