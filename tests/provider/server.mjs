// A real identity provider on a free port, until its standard input ends; prints its issuer.
//
// What tests may change about it is under /_test/: see `tests/servers/provider.py`.

import { createServer } from 'node:http';

import { exportJWK, generateKeyPair, importJWK, jwtVerify } from 'jose';
import { Provider } from 'oidc-provider';

const RESOURCE = 'https://shop.example/api';
const SHOP = process.argv[2] ?? 'saleor';
const JWT_CLIENTS = ['api', 'robot'];
const PERMISSIONS = ['manage_products', 'manage_settings', 'manage_orders'];
const SHOP_SCOPES = ['staff', ...PERMISSIONS].map((word) => `${SHOP}:${word}`);

const accounts = new Map();
const refreshes = [];
let keys = [];
let provider;
let issuer;
let backchannel = 'http://127.0.0.1:9/not-yet';
const callbacks = ['http://localhost:3000/callback'];

async function newKey() {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  const jwk = await exportJWK(privateKey);
  return { ...jwk, kid: `key-${keys.length + 1}-${Date.now()}`, alg: 'RS256', use: 'sig' };
}

function claimsOf(sub) {
  return { sub, ...(accounts.get(sub) ?? { email: `${sub}@sso.example`, email_verified: true }) };
}

function client(id, rest) {
  return {
    client_id: id,
    client_secret: `secret of ${id}: 100% "+&`,
    redirect_uris: callbacks,
    post_logout_redirect_uris: ['http://localhost:3000/bye'],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'client_secret_basic',
    ...rest,
  };
}

function build() {
  const made = new Provider(issuer, {
    // The first key signs.
    jwks: { keys },
    clients: [
      client('shop', {
        backchannel_logout_uri: backchannel,
        backchannel_logout_session_required: true,
      }),
      client('api', {}),
      client('robot', {
        grant_types: ['client_credentials'],
        response_types: [],
        redirect_uris: [],
      }),
    ],
    cookies: { keys: ['a key of the tests'] },
    // Its clients are on this machine, which it would not call by itself.
    fetch: (url, { dispatcher, ...options }) => globalThis.fetch(url, options),
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: () => claimsOf(sub) }),
    claims: {
      openid: ['sub', 'amr'],
      email: ['email', 'email_verified'],
      profile: ['given_name', 'family_name', 'name'],
    },
    scopes: ['openid', 'offline_access', 'profile', 'email', ...SHOP_SCOPES],
    extraParams: ['audience'],
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: (_ctx, asking) => asking.grantTypeAllowed('refresh_token'),
    features: {
      backchannelLogout: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        // JWT access tokens are for a resource; the client "shop" gets opaque ones.
        defaultResource: (_ctx, asking) => (JWT_CLIENTS.includes(asking.clientId) ? RESOURCE : []),
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: ['openid', 'profile', 'email', ...SHOP_SCOPES].join(' '),
          audience: RESOURCE,
          accessTokenFormat: 'jwt',
          accessTokenTTL: 600,
          jwt: { sign: { alg: 'RS256' } },
        }),
      },
    },
    ttl: { AccessToken: 600, AuthorizationCode: 60, IdToken: 600, RefreshToken: 3600 },
  });
  made.on('grant.success', (ctx) => {
    if (ctx.oidc.params.grant_type === 'refresh_token') refreshes.push(ctx.oidc.params.scope ?? null);
  });
  // The sign-in page of development asks for a password only; what was used is in the claims.
  made.on('interaction.ended', ({ oidc: { session } }) => {
    session.amr = accounts.get(session.accountId)?.amr;
  });
  made.on('backchannel.error', (_ctx, error) => console.error('back-channel logout:', error));
  return made;
}

// This provider tells nothing about the bearer of a token for a resource; others do.
async function userInfo(request, response) {
  const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
  for (const { d, p, q, dp, dq, qi, ...key } of keys) {
    try {
      const { payload } = await jwtVerify(token, await importJWK(key));
      return answer(response, 200, claimsOf(payload.sub));
    } catch {
      // The next key, then.
    }
  }
  return answer(response, 401, { error: 'invalid_token' });
}

function answer(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

async function control(request, response) {
  let text = '';
  for await (const chunk of request) text += chunk;
  const given = text ? JSON.parse(text) : {};
  switch (new URL(request.url, issuer).pathname) {
    case '/_test/account':
      accounts.set(given.sub, given.claims);
      break;
    case '/_test/rotate':
      keys = [await newKey(), ...(given.forget ? [] : keys)];
      provider = build();
      break;
    case '/_test/backchannel':
      backchannel = given.uri;
      provider = build();
      break;
    case '/_test/callback':
      callbacks.push(given.uri);
      provider = build();
      break;
    case '/_test/refreshes':
      return answer(response, 200, refreshes);
    case '/_test/userinfo':
      return userInfo(request, response);
    default:
      return answer(response, 404, {});
  }
  return answer(response, 200, {});
}

const server = createServer((request, response) => {
  const answering = request.url.startsWith('/_test/') ? control : provider.callback();
  Promise.resolve(answering(request, response)).catch((error) => {
    console.error(error);
    response.destroy();
  });
});
server.listen(0, '127.0.0.1', async () => {
  issuer = `http://127.0.0.1:${server.address().port}`;
  keys = [await newKey()];
  provider = build();
  console.log(issuer);
});

process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
