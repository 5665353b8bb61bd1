// Checks fetchWithSso of sso.mjs while password login is disabled: the provider refreshes.

import assert from 'node:assert/strict';
import { once } from 'node:events';

import { becomeBrowser, recordRequests, storedTokens } from './browser.mjs';

becomeBrowser();
const { auth } = await import('../auth-sdk.mjs');
const { fetchWithSso, finishSignIn, signInUrl } = await import('../sso.mjs');
const [email] = process.argv.slice(2);

async function currentUser(fetchAs) {
  const response = await fetchAs(process.env.API_URL, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: '{ me { email } }' }),
  });
  return (await response.json()).data.me;
}

console.log(await signInUrl());
const [line] = await once(process.stdin.setEncoding('utf8'), 'data');
assert.deepEqual(await finishSignIn(line.trim()), []);
assert.equal((await currentUser(fetchWithSso)).email, email);

const sent = recordRequests();
auth.accessTokenStorage.clearAuthStorage(); // as if it had expired
const both = await Promise.all([currentUser(fetchWithSso), currentUser(fetchWithSso)]);
assert.deepEqual(both, [{ email }, { email }]);
assert.equal(sent.filter((one) => one.body.includes('externalRefresh(')).length, 1);
assert.equal(sent.filter((one) => one.body.includes('tokenRefresh(')).length, 0);

// The library's own refresh is refused.
auth.accessTokenStorage.clearAuthStorage();
assert.equal(await currentUser(auth.fetchWithAuth), null);
assert.equal(storedTokens().length, 0);

// Without tokens, requests are anonymous.
assert.equal(await currentUser(fetchWithSso), null);
process.stdin.destroy();
