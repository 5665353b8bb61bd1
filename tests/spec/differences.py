"""Intended differences from the recorded platform, with the contract's sentences."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tests.spec.comparison import BLANKED, TEXT
from tests.spec.exchanges import PAGE, Exchange


@dataclass(frozen=True, slots=True)
class Difference:
    """Our response in the recordings' notation, and the contract's sentence behind it."""

    why: str
    status: int
    answer: object


def expected(exchange: Exchange) -> Exchange:
    """Return ``exchange`` with the response that the contract requires."""
    difference = DIFFERENCES.get(exchange.id)
    if difference is None:
        return exchange
    tokens = {
        name: token for name, token in exchange.tokens.items() if name in str(difference.answer)
    }
    return replace(exchange, status=difference.status, answer=difference.answer, tokens=tokens)


def _executed(why: str, **data: object) -> Difference:
    return Difference(why, 200, {"data": data})


def _failed(why: str, field: str, code: str) -> Difference:
    response = {"errors": [_error(code, path=[field])], "data": {field: None}}
    return Difference(why, 200, response)


def _nothing(why: str, field: str, code: str) -> Difference:
    """A non-null root field that failed set ``data`` to null."""
    return Difference(why, 200, {"errors": [_error(code, path=[field])], "data": None})


def _request_refused(why: str, status: int) -> Difference:
    return Difference(why, status, {"errors": [_error("GraphQLError")]})


def _error(code: str, **more: object) -> dict[str, object]:
    return {"message": BLANKED, **more, "extensions": {"exception": {"code": code}}}


def _problem(field: str | None, code: str) -> dict[str, object]:
    return {"field": field, "message": BLANKED, "code": code}


_CLOSED = {
    "errors": [
        {
            "message": "Storefront traffic is not allowed.",
            "extensions": {"code": "STOREFRONT_TRAFFIC_NOT_ALLOWED"},
        }
    ]
}

_UNREADABLE = (
    "Differences: a credential that is nobody's token is an error for `me`, and operations that "
    "need an identity give the credential's own error rather than `PermissionDenied`"
)
_INCOMPLETE = (
    "Differences: a token without `exp`, `type` or our `owner`, or with another `iss`, is invalid "
    "everywhere"
)
_EXPIRED = "Differences: an expired token fails every field, public ones too"
_MISSING = "Differences: a missing argument of part 1's operations is a field error, not a 400"
_EMAIL = "Differences: the `email` claim does not decide who the user is"
_SHOWN = (
    "Differences: in a restricted mode, answers show the permissions that the token really has"
)
_SYNTAX = "Differences: at the closed storefront a syntax error is 401, in a batch too"
_STRICT = 'Differences: `"yes"` is no Boolean and `5` no `operationName`: 400'
_TYPES = "Differences: wrong content types are 415"
_METHODS = "Part 2, HTTP: `OPTIONS` answers a preflight with no body"
_PREFLIGHT = "Part 2, HTTP: other methods 405; `OPTIONS` answers with no body"
_MUTATIONS = (
    "Part 2, HTTP: root mutations per request (`GRAPHQL_MUTATIONS_MAX`, 10) are limited by ten"
)
_KEY_SET = "What existing clients hold us to: key set entries: `kty n e kid use: sig alg: RS256`"
_KEY_SET_METHODS = "Part 2, HTTP: the key set answers GET and HEAD only"

_TWO_KINDS = (
    "Access and refresh tokens: the claims of part 1, `owner` the issuer-owner marker; no "
    "permission is ever embedded in these two"
)
_AUDIENCE = "Differences: a wrong audience is rejected"
_REACHES = "Differences: `tokensDeactivateAll` reaches provider tokens"
_KEEPS = (
    "Differences: an account first made here keeps its password after single sign-on (when both "
    "sides verified the address)"
)

_REFUSED_APPS = "Differences: app-managing operations refuse apps all alike"
_ITSELF = (
    "Part 2, Apps: `app` without `id` is the calling app; any other caller gets "
    "`PermissionDenied` with `AUTHENTICATED_APP`"
)
_SUPERUSERS = "Differences: superusers lose their rights too in `CUSTOMERS_ONLY`"
_EXTENSIONS = (
    "Differences: an extension token from a password session loses its rights in `CUSTOMERS_ONLY`"
)
_ANOTHERS = "Part 2, Webhooks: another app's webhook is `NOT_FOUND` on `id`"
_APPS_SET_NO_MODE = (
    "Part 4: a restricted login mode is set only by a caller authenticated through an identity "
    "provider, or by the operator at the shell"
)
_NO_SLASH = "Part 4: `POST` and `OPTIONS /graphql` are answered as with the slash"
_APP_REACH = (
    "Part 4: a person whose permissions don't include all of an app's can't trigger for its "
    "webhooks (top-level `PermissionDenied`)"
)
_MALFORMED = "Differences: a malformed object id is `INVALID_ID`"
_ALONE = "Part 2, Webhooks: a query alone runs on the newest object of the event's type"

_INVALID = {
    "isValid": False,
    "user": None,
    "payload": None,
    "errors": [_problem("token", "JWT_INVALID_TOKEN")],
}
_KEY = {"kty": "RSA", "n": TEXT, "e": "AQAB", "use": "sig", "kid": TEXT, "alg": "RS256"}


def _payload(email: str, user_id: str, *, is_staff: bool) -> dict[str, object]:
    return {
        "iat": 0,
        "owner": "saleor",
        "iss": "",
        "exp": 0,
        "token": "at least 12 characters",
        "email": email,
        "type": "access",
        "user_id": user_id,
        "is_staff": is_staff,
    }


def _customer(email: str, permissions: list[object]) -> dict[str, object]:
    return {"email": email, "userPermissions": permissions}


DIFFERENCES: Mapping[str, Difference] = {
    "tokenCreate/missing_password": _executed(
        _MISSING, tokenCreate={"token": None, "errors": [_problem("password", "REQUIRED")]}
    ),
    "tokenVerify/missing_arg": _executed(_MISSING, tokenVerify={"isValid": False}),
    "tokenVerify/foreign_owner": _executed(_INCOMPLETE, tokenVerify=_INVALID),
    "tokenVerify/no_type": _executed(_INCOMPLETE, tokenVerify=_INVALID),
    "tokenVerify/unknown_email": _executed(
        _EMAIL,
        tokenVerify={
            "isValid": True,
            "user": _customer("customer@example.com", []),
            "payload": _payload("nobody@example.com", "VXNlcjo0", is_staff=False),
            "errors": [],
        },
    ),
    "me/expired_introspection": _nothing(_EXPIRED, "__schema", "ExpiredSignatureError"),
    "me/expired_typename": _nothing(_EXPIRED, "__typename", "ExpiredSignatureError"),
    "me/foreign_owner": _failed(_INCOMPLETE, "me", "InvalidTokenError"),
    "me/no_exp": _failed(_INCOMPLETE, "me", "InvalidTokenError"),
    "me/garbage": _failed(_UNREADABLE, "me", "InvalidTokenError"),
    "me/garbage_app_token_len30": _failed(_UNREADABLE, "me", "InvalidTokenError"),
    "me/garbage_two_dots": _failed(_UNREADABLE, "me", "InvalidTokenError"),
    "me/header_Authorization-Bearer_garbage_Authorization_valid": _failed(
        _UNREADABLE, "me", "InvalidTokenError"
    ),
    "me/unknown_email": _executed(_EMAIL, me={"id": "VXNlcjo0", "email": "customer@example.com"}),
    "permission/shopSettingsUpdate_empty_app_inactive": _failed(
        _UNREADABLE, "shopSettingsUpdate", "InvalidTokenError"
    ),
    "permission/users_customers_list_garbage_token": _failed(
        _UNREADABLE, "customers", "InvalidTokenError"
    ),
    "permission/shopSettingsUpdate_empty_garbage_token": _failed(
        _UNREADABLE, "shopSettingsUpdate", "InvalidTokenError"
    ),
    "shop/mode_CUSTOMERS_ONLY_by_app_with_MANAGE_SETTINGS": _executed(
        _APPS_SET_NO_MODE,
        shopSettingsUpdate={
            "shop": None,
            "errors": [_problem("passwordLoginMode", "PASSWORD_AUTH_RESTRICTION")],
        },
    ),
    "shop/traffic_string_variable": _request_refused(_STRICT, 400),
    "mode/CUSTOMERS_ONLY_manager_tokenRefresh": _executed(
        _SHOWN,
        tokenRefresh={
            "token": "<ACCESS>",
            "user": {"email": "manager@example.com", "isStaff": False, "userPermissions": []},
            "errors": [],
        },
    ),
    "mode/CUSTOMERS_ONLY_superuser_tokenRefresh": _executed(
        _SHOWN,
        tokenRefresh={
            "token": "<ACCESS>",
            "user": {"email": "staff@example.com", "isStaff": False, "userPermissions": []},
            "errors": [],
        },
    ),
    "mode/CUSTOMERS_ONLY_manager_tokenVerify": _executed(
        _SHOWN,
        tokenVerify={
            "isValid": True,
            "user": _customer("manager@example.com", []),
            "payload": _payload("manager@example.com", "VXNlcjoy", is_staff=True),
            "errors": [],
        },
    ),
    "reset/old_refresh_token_after_reset": _executed(
        "Differences: sessions end on password reset, other sessions on change",
        tokenRefresh={
            "token": None,
            "user": None,
            "errors": [_problem(None, "JWT_INVALID_TOKEN")],
        },
    ),
    "app/appFetchManifest_app_apps": _failed(
        _REFUSED_APPS, "appFetchManifest", "PermissionDenied"
    ),
    "app/appquery_manager": _failed(_ITSELF, "app", "PermissionDenied"),
    "app/appquery_staff_noperm": _failed(_ITSELF, "app", "PermissionDenied"),
    "app/apps_list_app_inactive": _failed(_UNREADABLE, "apps", "InvalidTokenError"),
    "app/apps_list_garbage_token": _failed(_UNREADABLE, "apps", "InvalidTokenError"),
    "app/deactivated_app_token": _failed(_UNREADABLE, "app", "InvalidTokenError"),
    "mode/CUSTOMERS_ONLY_superuser_apps_list": _failed(_SUPERUSERS, "apps", "PermissionDenied"),
    "mode/CUSTOMERS_ONLY_extension_token_of_manager_me": _executed(
        _EXTENSIONS,
        me={
            "id": "VXNlcjoy",
            "email": "manager@example.com",
            "firstName": "Mana",
            "lastName": "Ger",
            "isStaff": False,
            "userPermissions": [],
            "permissionGroups": [{"name": "Peer managers"}],
        },
    ),
    "storefront/anonymous_syntax_error": Difference(_SYNTAX, 401, _CLOSED),
    "storefront/batch2_anonymous_one_bad_syntax_batchenabled": Difference(
        _SYNTAX, 401, [_CLOSED, _CLOSED]
    ),
    "http/content_type_form": _request_refused(_TYPES, 415),
    "http/content_type_missing": _request_refused(_TYPES, 415),
    "http/operationName_number": _request_refused(_STRICT, 400),
    "http/mutations_5": _executed(
        _MUTATIONS, **{f"m{number}": {"isValid": False} for number in range(5)}
    ),
    "http/no_trailing_slash": _executed(_NO_SLASH, shop={"name": "Saleor e-commerce"}),
    "http/options_plain": Difference(_METHODS, 200, ""),
    "oidc/client_tokenVerify": _executed(
        _TWO_KINDS,
        tokenVerify={
            "isValid": True,
            "user": _customer("client1795179136@sso.example", []),
            "payload": _payload("client1795179136@sso.example", "VXNlcjo2NA==", is_staff=False),
            "errors": [],
        },
    ),
    "oidc/scope_aud_mismatch": _failed(_AUDIENCE, "me", "InvalidTokenError"),
    "oidc/sso_link_password_login_after": _executed(
        _KEEPS, tokenCreate={"token": "<ACCESS>", "refreshToken": "<REFRESH>", "errors": []}
    ),
    "oidc/sso_me_after_tokensDeactivateAll": _failed(_REACHES, "me", "InvalidTokenError"),
    "oidc/sso_me_userinfo_refuses": _failed(_UNREADABLE, "me", "InvalidTokenError"),
    "jwks_external/jwks": Difference(_KEY_SET, 200, {"keys": [_KEY, _KEY]}),
    "jwks_external/jwks_post": Difference(_KEY_SET_METHODS, 405, PAGE),
    "webhook/create_garbage_token": _failed(_UNREADABLE, "webhookCreate", "InvalidTokenError"),
    "webhook/dryrun_garbage_token": _failed(_UNREADABLE, "webhookDryRun", "InvalidTokenError"),
    "webhook/trigger_garbage_token": _failed(_UNREADABLE, "webhookTrigger", "InvalidTokenError"),
    "webhook/trigger_staff_noperm": _failed(_APP_REACH, "webhookTrigger", "PermissionDenied"),
    "webhook/list_app_inactive": _failed(_UNREADABLE, "app", "InvalidTokenError"),
    "webhook/list_manager": _failed(_ITSELF, "app", "PermissionDenied"),
    "webhook/list_staff_noperm": _failed(_ITSELF, "app", "PermissionDenied"),
    "webhook/list_superuser": _failed(_ITSELF, "app", "PermissionDenied"),
    "webhook/delete_app_noperm": _executed(
        _ANOTHERS, webhookDelete={"webhook": None, "errors": [_problem("id", "NOT_FOUND")]}
    ),
    "webhook/dryrun_garbage_object_id": _executed(
        _MALFORMED, webhookDryRun={"payload": None, "errors": [_problem("objectId", "INVALID_ID")]}
    ),
    "webhook/dryrun_missing_object_arg": _executed(_ALONE, webhookDryRun={"payload": None}),
    "batch/batch_entry_not_object_batchenabled": _request_refused(
        "Differences: a batch entry that is no object is 400", 400
    ),
}
