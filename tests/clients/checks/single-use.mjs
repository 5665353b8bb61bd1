// Checks which clients work with single-use refresh tokens: email and password as arguments.
//
// Says when each has used its first token; goes on when ten seconds have passed for the shop.

import assert from 'node:assert/strict';
import { once } from 'node:events';

import { Session } from '../fetch.mjs';
import { becomeBrowser } from './browser.mjs';

becomeBrowser();
const { auth, currentUser, signIn } = await import('../auth-sdk.mjs');
const sdk = await import('../sdk/account.mjs');
const [email, password] = process.argv.slice(2);

const refreshedUser = () => {
  auth.accessTokenStorage.clearAuthStorage();
  return currentUser();
};
const session = new Session();
const saleor = sdk.createClient();
for (const errors of [
  await session.signIn(email, password),
  await signIn(email, password),
  await sdk.signIn(saleor, email, password),
]) {
  assert.deepEqual(errors, []);
}

const first = session.refreshToken;
await session.refresh();
assert.notEqual(session.refreshToken, first);
assert.equal((await refreshedUser()).email, email);
assert.equal((await refreshedUser()).email, email); // for ten seconds the first one can come again
assert.deepEqual((await saleor.auth.refreshToken()).data.tokenRefresh.errors, []);

console.log('used');
await once(process.stdin, 'data');

await session.refresh();
assert.equal((await session.query('{ me { email } }')).data.me.email, email);
// These two keep the first token, so their sessions end.
assert.equal(await refreshedUser(), null);
const { data } = await saleor.auth.refreshToken();
assert.equal(data.tokenRefresh.errors[0].code, 'JWT_INVALID_TOKEN');
process.stdin.destroy();
