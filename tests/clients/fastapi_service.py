"""A FastAPI service that lets the shop's signed-in users in, without a call for each request."""

from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Request
from latchkey_verifier import InvalidToken, Token, Unavailable, Verifier, bearer


class SignedIn:
    """A dependency that verifies the request's token."""

    def __init__(self, verifier: Verifier) -> None:
        self._verifier = verifier

    def __call__(self, request: Request) -> Token:
        try:
            return self._verifier.verify(bearer(request.headers))
        except InvalidToken as invalid:
            challenge = {"WWW-Authenticate": "Bearer"}
            raise HTTPException(401, str(invalid), challenge) from invalid
        except Unavailable as away:
            later = {"Retry-After": str(away.retry_after)}
            raise HTTPException(503, headers=later) from away


def create_service(verifier: Verifier) -> FastAPI:
    """Return the service."""
    app = FastAPI()
    signed_in = SignedIn(verifier)

    @app.get("/wishlist")
    def wishlist(token: Annotated[Token, Depends(signed_in)]) -> dict[str, str]:
        return {"user": token.user_id}

    return app
