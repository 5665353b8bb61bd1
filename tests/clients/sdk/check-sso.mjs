// Checks @saleor/sdk with an identity provider: prints where the browser goes, then goes on.
//
// The arguments are the person's email and whether they have permissions.

import assert from 'node:assert/strict';
import { once } from 'node:events';

import { becomeBrowser, storedTokens } from '../checks/browser.mjs';

becomeBrowser();
const { createClient } = await import('./account.mjs');
const [email, kind] = process.argv.slice(2);
const pluginId = 'mirumee.authentication.openidconnect';
const saleor = createClient();

const begun = await saleor.auth.getExternalAuthUrl({
  pluginId,
  input: JSON.stringify({ redirectUri: 'http://localhost:3000/callback' }),
});
const { authenticationData, errors } = begun.data.externalAuthenticationUrl;
assert.deepEqual(errors, []);
console.log(JSON.parse(authenticationData).authorizationUrl);
const [line] = await once(process.stdin.setEncoding('utf8'), 'data');
process.stdin.destroy();

const input = JSON.stringify(Object.fromEntries(new URL(line.trim()).searchParams));
const { data } = await saleor.auth.getExternalAccessToken({ pluginId, input });
assert.deepEqual(data.externalObtainAccessTokens.errors, []);
assert.equal(data.externalObtainAccessTokens.user.email, email);

// The library keeps the tokens only of people with permissions.
assert.equal(storedTokens().length, kind === 'staff' ? 1 : 0);
if (kind === 'staff') {
  const refreshed = await saleor.auth.refreshToken();
  assert.deepEqual(refreshed.data.tokenRefresh.errors, []);
  const verified = await saleor.auth.verifyToken();
  assert.equal(verified.data.tokenVerify.isValid, true);
  const goodbye = { post_logout_redirect_uri: 'http://localhost:3000/bye' };
  await saleor.auth.logout({ input: JSON.stringify(goodbye) });
  assert.deepEqual(storedTokens(), []);
}
