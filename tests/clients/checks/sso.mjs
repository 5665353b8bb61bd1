// Checks sso.mjs: prints where the browser goes, and goes on when it has come back.

import assert from 'node:assert/strict';
import { once } from 'node:events';

import { becomeBrowser, storedTokens } from './browser.mjs';

becomeBrowser();
const { auth, currentUser } = await import('../auth-sdk.mjs');
const { finishSignIn, signInUrl, signOut } = await import('../sso.mjs');
const [email] = process.argv.slice(2);

console.log(await signInUrl());
const [line] = await once(process.stdin.setEncoding('utf8'), 'data');
const pageUrl = line.trim();

assert.deepEqual(await finishSignIn(pageUrl), []);
assert.equal((await currentUser()).email, email);
const [reused] = await finishSignIn(pageUrl);
assert.equal(reused.field, 'state');

// A new access token needs no visit to the provider.
auth.accessTokenStorage.clearAuthStorage();
assert.equal((await currentUser()).email, email);

const [refreshToken] = storedTokens();
const logoutUrl = new URL(await signOut());
assert.equal(logoutUrl.searchParams.get('post_logout_redirect_uri'), 'http://localhost:3000/bye');
assert.deepEqual(storedTokens(), []);
assert.equal(await currentUser(), null);
auth.refreshTokenStorage.setRefreshToken(refreshToken);
assert.equal(await currentUser(), null); // the session has ended for copies of its tokens, too
process.stdin.destroy();
