// Checks account.mjs against a shop whose access tokens live for a few seconds.

import assert from 'node:assert/strict';
import http from 'node:http';

import { becomeBrowser, expiry, localStorage, storedTokens, until } from '../checks/browser.mjs';

becomeBrowser(); // before the library is loaded: it looks for localStorage then

const operations = [];
const { request } = http;
http.request = (...options) => {
  const sent = request(...options);
  const write = sent.write.bind(sent);
  sent.write = (body, ...rest) => {
    operations.push(JSON.parse(body).operationName);
    return write(body, ...rest);
  };
  return sent;
};

const { addAddress, createClient, rename, signIn, signOut } = await import('./account.mjs');
const [email, password] = process.argv.slice(2);
const address = {
  ...{ firstName: 'Ann', lastName: 'Lee', streetAddress1: 'Main Street 1' },
  ...{ city: 'Wroclaw', postalCode: '53-601', country: 'PL' },
};

const since = async (act) => {
  operations.length = 0;
  await act();
  return [...operations];
};

// By default the client refreshes two minutes before the end, so always in this shop.
const early = createClient();
assert.deepEqual(await signIn(early, email, password), []);
assert.equal(early.getState().user.email, email);
await addAddress(early, address);
assert.deepEqual(await since(() => rename(early, 'Ann')), ['refreshToken', 'accountUpdate']);
const { user } = early.getState();
assert.deepEqual([user.firstName, user.defaultShippingAddress.country.code], ['Ann', 'PL']);
assert.equal((await early.auth.verifyToken()).data.tokenVerify.isValid, true);

// Another visit signs in by itself, and here only the shop's refusal says that a token expired.
const late = createClient({ fetchOpts: { autoTokenRefresh: false } });
await until(() => late.getState()?.user);
assert.equal(late.getState().user.email, email);
const { data } = await late.auth.refreshToken();
await expiry(data.tokenRefresh.token);
const refused = await since(() => rename(late, 'Bea'));
assert.deepEqual(refused, ['accountUpdate', 'refreshToken', 'accountUpdate']);
assert.equal(late.getState().user.firstName, 'Bea');

assert.equal(storedTokens().length, 1);
await signOut(late);
assert.equal(late.getState().user ?? null, null);
assert.deepEqual([storedTokens(), localStorage.getItem('saleorRefreshToken')], [[], null]);

// Nothing is left that a visit could sign in with.
const visit = await since(() => createClient());
assert.deepEqual(visit, []);
