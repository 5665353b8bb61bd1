"""Mutants of the rules of the OpenID provider."""

from tests.mutations.mutant import Mutant

_RULES = "app/domain/oauth.py"
_GRANTS = "app/services/oauth/grants.py"
_CLIENTS = "app/services/oauth/clients.py"
_RIGHTS = "app/services/authorization/declarations.py"
_GRANT_TESTS = "services/oauth/test_grants.py"
_THIRD_PARTIES = "hostile/test_third_party_clients.py"
_HOSTILE = "hostile/test_openid_provider.py"

_DEVICES = "app/services/oauth/devices.py"
_DEVICE_TESTS = "services/oauth/test_devices.py"

OPENID_PROVIDER = (
    Mutant(
        "A client's secrets end when it gets keys",
        _CLIENTS,
        "0 if has_kept_secrets else _end_secrets(session, stored.id)",
        "0",
        "services/oauth/test_clients.py",
    ),
    Mutant(
        "A device with rights of staff is let in at the console alone",
        _DEVICES,
        "        if privileged(scopes) and not session.scalar(here):\n",
        "        if False:\n",
        _DEVICE_TESTS,
    ),
    Mutant(
        "A device that was denied gets no session",
        _DEVICES,
        "            stored.is_denied.is_(False),\n",
        "",
        _DEVICE_TESTS,
    ),
    Mutant(
        "Codes that one person tries are counted",
        _DEVICES,
        '    if not within_rate(ports, DEVICE_CODE, f"user {own_id(actor)}"):\n',
        "    if False:\n",
        _DEVICE_TESTS,
    ),
    Mutant(
        "A device that staff let in is told when they proved who they are",
        "app/console/account/device.py",
        "allow_device(ports(), actor(), code, proved_at())",
        "allow_device(ports(), actor(), code, ports().clock.now())",
        "console/test_device.py",
    ),
    Mutant(
        "A device that doesn't wait has to wait longer",
        _DEVICES,
        "            stored.interval += POLL_INTERVAL\n",
        "            pass\n",
        _DEVICE_TESTS,
    ),
    Mutant(
        "A code that comes again ends what it began",
        _GRANTS,
        "            _end_replayed(ports, actor, session, code_id)\n",
        "",
        _GRANT_TESTS,
    ),
    Mutant(
        "A refresh token that comes again ends the grant",
        _GRANTS,
        "        if used.used_at is not None:\n",
        "        if False:\n",
        _GRANT_TESTS,
    ),
    Mutant(
        "A refresh token is its client's",
        _GRANTS,
        "kept is None or kept.oauth_client_id != client.id",
        "kept is None",
        _GRANT_TESTS,
    ),
    Mutant(
        "A grant counts as the sign-in behind it in each login mode",
        _GRANTS,
        "if live is None or rejects_password_sessions(switches.password_login_mode, live.origin):",
        "if live is None:",
        _GRANT_TESTS,
    ),
    Mutant(
        "A closed storefront gives tokens to staff alone",
        _GRANTS,
        "if not (switches.allow_storefront_traffic or effective_user",
        "if not (True or effective_user",
        _GRANT_TESTS,
    ),
    Mutant(
        "A third party gets no code without consent",
        _GRANTS,
        "if actor.session_id is None or missing_consent(",
        "if actor.session_id is None or False and missing_consent(",
        _GRANT_TESTS,
    ),
    Mutant(
        "Consent counts when a code is exchanged",
        _GRANTS,
        "    if not_allowed(session, signed_in.user_id, client, asked.words):\n",
        "    if False:\n",
        _GRANT_TESTS,
    ),
    Mutant(
        "A verified token shows a third party what its scopes name",
        "app/graphql/context.py",
        "        if token.is_of_third_party:\n",
        "        if False:\n",
        _THIRD_PARTIES,
    ),
    Mutant(
        "An access token for a client with pairwise subjects doesn't name the person",
        _GRANTS,
        "    if client.is_pairwise:\n",
        "    if False:\n",
        "hostile/test_pairwise_subjects.py",
    ),
    Mutant(
        "A first party has no pairwise subjects",
        _RULES,
        "    if client.is_first_party and client.is_pairwise:\n",
        "    if False:\n",
        "hostile/test_pairwise_subjects.py",
    ),
    Mutant(
        "A client with pairwise subjects is asked for consent",
        _CLIENTS,
        "is_first_party=stored.is_first_party and not stored.subject_salt,",
        "is_first_party=stored.is_first_party,",
        "hostile/test_pairwise_subjects.py",
    ),
    Mutant(
        "A client with pairwise subjects reads what its scopes name",
        "app/services/authorization/session_rights.py",
        'OAuthClientRecord.is_first_party, OAuthClientRecord.subject_salt == ""',
        "OAuthClientRecord.is_first_party",
        "hostile/test_pairwise_subjects.py",
    ),
    Mutant(
        "The client of the command line can't be deleted",
        _CLIENTS,
        "        if client.is_built_in:\n",
        "        if False:\n",
        "services/oauth/test_clients.py",
    ),
    Mutant(
        "Only people with all permissions manage clients with more rights",
        _CLIENTS,
        "    if is_privileged(client) and not",
        "    if False and not",
        "services/oauth/test_clients.py",
    ),
    Mutant(
        "An app that allows client credentials alone has no lasting token that works",
        "app/services/authorization/app_rights.py",
        "AppTokenRecord.app_id, WORKS, _IS_ALLOWED))",
        "AppTokenRecord.app_id, WORKS))",
        "oauth/test_app_credentials.py",
    ),
    Mutant(
        "A hint names who is to be signed in",
        "app/oauth/endpoints.py",
        'claims.get("sub") == client.subject_of(person.actor.user_id or 0)',
        "True",
        "oauth/test_provider.py",
    ),
    Mutant(
        "Staff disconnect programs of people whom they manage",
        "app/services/oauth/consents.py",
        "        require_manageable(actor, user)\n",
        "",
        "services/oauth/test_clients.py",
    ),
    Mutant(
        "Redirect URIs are compared by character",
        _RULES,
        "uri == own or _is_same_loopback",
        "uri.startswith(own) or _is_same_loopback",
        "domain/test_oauth.py",
    ),
    Mutant(
        "A third party calls what its scopes name",
        _RIGHTS,
        "        if actor.is_third_party:\n",
        "        if False:\n",
        _THIRD_PARTIES,
    ),
    Mutant(
        "A third party doesn't act for its person where anyone can call",
        "app/services/authorization/register.py",
        "if declaration.rule is not Rule.PUBLIC or not actor.is_third_party:",
        "if True:",
        _THIRD_PARTIES,
    ),
    Mutant(
        "A client's permissions are those of its scopes",
        "app/services/authorization/session_rights.py",
        "permissions = user.permissions & client.permissions",
        "permissions = user.permissions",
        _THIRD_PARTIES,
    ),
    Mutant(
        "A disabled client's tokens don't work",
        "app/services/authorization/session_rights.py",
        "            OAuthClientRecord.is_active.is_(True),\n",
        "",
        _GRANT_TESTS,
    ),
    Mutant(
        "PKCE is required with S256",
        "app/oauth/protocol.py",
        "            if not data.get(name):\n",
        "            if False:\n",
        _HOSTILE,
    ),
    Mutant(
        "What the shop signed is no provider's",
        "app/services/identity/provider_calls.py",
        "if kid is not None and kid in ring(ports).ring.published:",
        "if False:",
        _HOSTILE,
    ),
    Mutant(
        "A signed assertion is used once",
        "app/services/oauth/client_tokens.py",
        "    except IntegrityError:\n        return False\n",
        "    except IntegrityError:\n        return True\n",
        "oauth/test_app_credentials.py",
    ),
    Mutant(
        "A client signs a person out of the sign-in that its ID token is of",
        "app/services/oauth/client_sessions.py",
        "_stored.client_id == client.id, _stored.sid == sid",
        "_stored.client_id == client.id",
        "oauth/test_logout.py",
    ),
    Mutant(
        "The person is asked unless the client proves itself",
        "app/oauth/endpoints.py",
        "person is None or is_confirmed or is_proved(logout, person.actor.session_id)",
        "person is None or is_confirmed or logout.sid",
        "oauth/test_logout.py",
    ),
    Mutant(
        "A restored copy reports no session as ended",
        "app/services/oauth/client_sessions.py",
        "    if ports.cache.hold is not None:\n",
        "    if False:\n",
        "services/oauth/test_client_sessions.py",
    ),
    Mutant(
        "An access token has no more scopes than it was refreshed with",
        "app/services/identity/own_tokens.py",
        "return found if claims.limit is None else _limited(found, claims.limit)",
        "return found",
        "oauth/test_provider.py",
    ),
)
