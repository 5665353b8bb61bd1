// A storefront that signs in with @saleor/auth-sdk: API URL, email and password as arguments.

import assert from 'node:assert/strict';

import { createSaleorAuthClient } from '@saleor/auth-sdk';

const [saleorApiUrl, email, password] = process.argv.slice(2);

function storage() {
  const kept = new Map();
  return {
    getItem: (name) => kept.get(name) ?? null,
    setItem: (name, value) => kept.set(name, value),
    removeItem: (name) => kept.delete(name),
    clear: () => kept.clear(),
    values: () => [...kept.values()],
  };
}

const accessTokenStorage = storage();
const refreshTokenStorage = storage();
const auth = createSaleorAuthClient({ saleorApiUrl, accessTokenStorage, refreshTokenStorage });

async function me() {
  const response = await auth.fetchWithAuth(saleorApiUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: '{ me { email } }' }),
  });
  return (await response.json()).data.me;
}

assert.equal(await me(), null);

const signedIn = await auth.signIn({ email, password });
assert.deepEqual(signedIn.data.tokenCreate.errors, []);
assert.deepEqual(await me(), { email });

// Without an access token the client gets a new one for its refresh token, each time.
for (const _ of [1, 2]) {
  accessTokenStorage.clear();
  assert.deepEqual(await me(), { email });
  assert.equal(accessTokenStorage.values().length, 1);
}

auth.signOut();
assert.equal(await me(), null);
const kept = [...accessTokenStorage.values(), ...refreshTokenStorage.values()];
assert.equal(kept.some((value) => value.startsWith('ey')), false, 'a token is left');

// Last, since a wrong password makes the next attempt wait.
const refused = await auth.signIn({ email, password: 'not the password' });
assert.equal(refused.data.tokenCreate.token, null);
assert.equal(refused.data.tokenCreate.errors[0].field, 'email');
