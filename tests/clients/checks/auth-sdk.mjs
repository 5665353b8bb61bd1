// Checks auth-sdk.mjs against a shop whose access tokens live for a few seconds.

import assert from 'node:assert/strict';

import { becomeBrowser, expiry, recordRequests, storedTokens } from './browser.mjs';

becomeBrowser();
const { auth, currentUser, signIn, signOut } = await import('../auth-sdk.mjs');
const [email, password] = process.argv.slice(2);
const sent = recordRequests();
const refreshes = () => sent.filter((one) => one.body.includes('tokenRefresh(')).length;
const accessToken = () => auth.accessTokenStorage.getAccessToken();

assert.equal(await currentUser(), null);
assert.deepEqual(await signIn(email, password), []);
const first = accessToken();
await expiry(first);
assert.equal((await currentUser()).email, email);
assert.equal(refreshes(), 1);
assert.notEqual(accessToken(), first);

// Several requests find the next one expired, too: one refresh is for all of them.
await expiry(accessToken());
const users = await Promise.all([currentUser(), currentUser(), currentUser()]);
assert.deepEqual(users.map((user) => user.email), [email, email, email]);
assert.equal(refreshes(), 2);

assert.equal(storedTokens().length, 1);
signOut();
assert.equal(await currentUser(), null);
assert.deepEqual([storedTokens(), accessToken()], [[], null]);

// Last, since an incorrect password makes the next attempt wait.
const [refused] = await signIn(email, 'not the password');
assert.deepEqual([refused.field, refused.code], ['email', 'INVALID_CREDENTIALS']);
