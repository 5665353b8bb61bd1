"""An app without an SDK: a manifest, the handshake, a webhook and a page in the dashboard."""

# --8<-- [start:setup]
import json
from pathlib import Path
from typing import Any

import jwt
import requests
from flask import Flask, Response, request
from flask.typing import ResponseReturnValue

app = Flask(__name__)
app.config["SHOPS"] = ["http://localhost:8000/graphql/"]  # that can install it
received: list[dict[str, Any]] = []  # the payloads of the webhook
# --8<-- [end:setup]


# --8<-- [start:manifest]
@app.get("/api/manifest")
def manifest() -> ResponseReturnValue:
    """Describe the app, with URLs of the host that it was asked at."""
    text = Path(__file__).with_name("manifest.json").read_text()
    text = text.replace("http://localhost:3000/", request.host_url)
    return Response(text, mimetype="application/json")


# --8<-- [end:manifest]


# --8<-- [start:register]
tokens: dict[str, str] = {}  # by API URL; keep them encrypted, in a database
app_ids: dict[str, str] = {}
key_sets: dict[str, jwt.PyJWKClient] = {}


@app.post("/api/register")
def register() -> ResponseReturnValue:
    """Take the token of a shop that installs the app."""
    api_url = request.headers.get("Saleor-Api-Url", "")
    if api_url not in app.config["SHOPS"]:
        return "This shop has no subscription to Stock notes.", 403
    token = request.get_json()["auth_token"]
    # Anyone can send this request. Only the shop itself can send a token that the shop accepts.
    answer = requests.post(
        api_url,
        json={"query": "{ app { id } }"},
        headers={"Authorization": f"Bearer {token}"},
        timeout=180,
    ).json()
    if not (answer.get("data") or {}).get("app"):
        return "The shop doesn't accept this token.", 400
    tokens[api_url] = token
    app_ids[api_url] = answer["data"]["app"]["id"]
    key_sets[api_url] = jwt.PyJWKClient(requests.compat.urljoin(api_url, "/.well-known/jwks.json"))
    return {"success": True}


# --8<-- [end:register]


# --8<-- [start:webhook]
@app.post("/api/webhooks/product-created")
def product_created() -> ResponseReturnValue:
    """Accept what the shop signed; drop what was already processed."""
    key_set = key_sets.get(request.headers.get("Saleor-Api-Url", ""))
    signature = request.headers.get("Saleor-Signature", "")
    if key_set is None:
        return "Unknown shop", 401
    try:
        key = key_set.get_signing_key(jwt.get_unverified_header(signature)["kid"])
        body = request.get_data()
        jwt.PyJWS().decode(signature, key, algorithms=["RS256"], detached_payload=body)
    except (jwt.PyJWTError, KeyError):
        return "Invalid signature", 401
    delivery = request.headers["webhook-id"]
    if all(known["id"] != delivery for known in received):
        received.append({"id": delivery, **json.loads(body)})
    return "", 204


# --8<-- [end:webhook]


# --8<-- [start:extension]
@app.post("/api/notes")
def notes() -> ResponseReturnValue:
    """Answer the app's page in the dashboard, which sends the token that it was given."""
    api_url = request.headers.get("Saleor-Api-Url", "")
    token = request.headers.get("Authorization-Bearer", "")
    if api_url not in key_sets:
        return "Unknown shop", 401
    try:
        claims = jwt.decode(
            token,
            key_sets[api_url].get_signing_key_from_jwt(token),
            algorithms=["RS256"],
            issuer=api_url,
            options={"require": ["exp", "iss"]},
        )
    except jwt.PyJWTError:
        return "Invalid token", 401
    if claims["type"] != "thirdparty" or claims["app"] != app_ids[api_url]:
        return "This token is for another app", 403
    if "MANAGE_PRODUCTS" not in claims["permissions"]:
        return "You need MANAGE_PRODUCTS", 403
    return {"email": claims["email"], "permissions": claims["permissions"]}


# --8<-- [end:extension]
