// A website that lets people sign in with the shop, with openid-client.

// --8<-- [start:begin]
import * as client from 'openid-client';

const issuer = new URL(process.env.ISSUER); // such as https://shop.example.com
const redirectUri = 'http://localhost:3000/callback';
const insecure = issuer.protocol === 'http:' ? [client.allowInsecureRequests] : [];
const config = await client.discovery(
  issuer,
  process.env.CLIENT_ID,
  process.env.CLIENT_SECRET,
  undefined,
  { execute: insecure },
);

// Send the browser to `url`, and keep `checks` in its session.
export async function beginSignIn(scope = 'openid profile email') {
  const pkceCodeVerifier = client.randomPKCECodeVerifier();
  const expectedState = client.randomState();
  const expectedNonce = client.randomNonce();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: expectedState,
    nonce: expectedNonce,
  });
  return { url, checks: { pkceCodeVerifier, expectedState, expectedNonce } };
}

// The browser came back to http://localhost:3000/callback?code=…&state=…&iss=…
export function finishSignIn(pageUrl, checks) {
  return client.authorizationCodeGrant(config, new URL(pageUrl), checks);
}
// --8<-- [end:begin]

// For the tests alone: what they call.
export { client, config };
