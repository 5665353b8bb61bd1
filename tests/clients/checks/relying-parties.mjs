// Signs a person in with the shop by one library: prints where the browser goes, reads where it
// came back, and checks what the library makes of the tokens.

import assert from 'node:assert/strict';
import { once } from 'node:events';

const { ISSUER, CLIENT_ID, CLIENT_SECRET } = process.env;
const [library, email] = process.argv.slice(2);
const SCOPE = 'openid profile email offline_access';

const lines = process.stdin.setEncoding('utf8');

async function visit(url) {
  console.log(url.toString());
  const [line] = await once(lines, 'data');
  return line.trim();
}

const RUNS = {
  async 'openid-client'() {
    const { beginSignIn, client, config, finishSignIn } = await import('../openid-client.mjs');
    const { url, checks } = await beginSignIn(SCOPE);
    const pageUrl = await visit(url);
    await assert.rejects(finishSignIn(pageUrl.replace(/iss=[^&]+/, 'iss=x'), checks));
    const tokens = await finishSignIn(pageUrl, checks);
    const { sub, amr, sid } = tokens.claims();
    assert.deepEqual(amr, ['pwd']);
    const person = await client.fetchUserInfo(config, tokens.access_token, sub);
    assert.equal(person.email, email);

    const next = await client.refreshTokenGrant(config, tokens.refresh_token);
    assert.equal(next.claims().sid, sid);
    const introspected = await client.tokenIntrospection(config, next.access_token);
    assert.deepEqual([introspected.active, introspected.sub], [true, sub]);
    await client.tokenRevocation(config, next.refresh_token);
    assert.equal((await client.tokenIntrospection(config, next.access_token)).active, false);
    await assert.rejects(client.refreshTokenGrant(config, next.refresh_token), {
      error: 'invalid_grant',
    });
    await assert.rejects(client.fetchUserInfo(config, next.access_token, sub));

    const logout = client.buildEndSessionUrl(config, {
      id_token_hint: tokens.id_token,
      post_logout_redirect_uri: 'http://localhost:3000/bye',
      state: 'of the website',
    });
    assert.equal(await visit(logout), 'http://localhost:3000/bye?state=of+the+website');
  },

  async oauth4webapi() {
    const oauth = await import('oauth4webapi');
    const insecure = { [oauth.allowInsecureRequests]: true };
    const found = await oauth.discoveryRequest(new URL(ISSUER), insecure);
    const server = await oauth.processDiscoveryResponse(new URL(ISSUER), found);
    const client = { client_id: CLIENT_ID };
    const auth = oauth.ClientSecretBasic(CLIENT_SECRET);
    const redirectUri = 'http://localhost:3000/callback';
    const verifier = oauth.generateRandomCodeVerifier();
    const nonce = oauth.generateRandomNonce();
    const url = new URL(server.authorization_endpoint);
    url.search = new URLSearchParams({
      client_id: CLIENT_ID,
      redirect_uri: redirectUri,
      response_type: 'code',
      scope: SCOPE,
      nonce,
      code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    });
    const pageUrl = new URL(await visit(url));
    const back = oauth.validateAuthResponse(server, client, pageUrl);
    const answer = await oauth.authorizationCodeGrantRequest(
      server, client, auth, back, redirectUri, verifier, insecure,
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, answer, {
      expectedNonce: nonce,
      requireIdToken: true,
    });
    await oauth.validateApplicationLevelSignature(server, answer, insecure);
    const { sub } = oauth.getValidatedIdTokenClaims(tokens);
    const told = await oauth.userInfoRequest(server, client, tokens.access_token, insecure);
    assert.equal((await oauth.processUserInfoResponse(server, client, sub, told)).email, email);
    const refreshed = await oauth.processRefreshTokenResponse(
      server,
      client,
      await oauth.refreshTokenGrantRequest(server, client, auth, tokens.refresh_token, insecure),
    );
    const introspect = async (token) =>
      oauth.processIntrospectionResponse(
        server, client, await oauth.introspectionRequest(server, client, auth, token, insecure),
      );
    assert.equal((await introspect(refreshed.access_token)).active, true);
    const revoked = await oauth.revocationRequest(
      server, client, auth, refreshed.refresh_token, insecure,
    );
    await oauth.processRevocationResponse(revoked);
    assert.equal((await introspect(refreshed.access_token)).active, false);
  },

  // Auth.js: next-auth and the packages for other frameworks are layers on it.
  async authjs() {
    const { Auth } = await import('@auth/core');
    const jar = new Map();
    const provider = {
      id: 'shop', name: 'Shop', type: 'oidc',
      issuer: ISSUER, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET,
      checks: ['pkce', 'state', 'nonce'],
    };
    const config = {
      basePath: '/auth', secret: 'of the website', trustHost: true, providers: [provider],
      logger: { error: (fault) => console.error(fault, fault.cause) },
    };
    async function request(path, form) {
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const made = new Request(`http://localhost:3000${path}`, {
        method: form ? 'POST' : 'GET',
        headers: { cookie },
        body: form && new URLSearchParams(form),
      });
      const answer = await Auth(made, config);
      for (const set of answer.headers.getSetCookie()) {
        const [name, value] = set.split(';')[0].split(/=(.*)/s);
        jar.set(name, value);
      }
      return answer;
    }
    const { csrfToken } = await (await request('/auth/csrf')).json();
    const begun = await request('/auth/signin/shop', { csrfToken });
    const pageUrl = new URL(await visit(begun.headers.get('location')));
    const done = await request(pageUrl.pathname + pageUrl.search);
    assert.equal(done.headers.get('location'), 'http://localhost:3000');
    const { user } = await (await request('/auth/session')).json();
    assert.equal(user.email, email);
  },
};

await RUNS[library]();
lines.destroy();
