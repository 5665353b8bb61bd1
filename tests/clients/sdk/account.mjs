// A storefront built with @saleor/sdk: API URL, email and password as arguments.

import assert from 'node:assert/strict';
import http from 'node:http';
import { createRequire } from 'node:module';

// The library is made for browsers: it keeps its refresh token in their storage.
const kept = new Map();
globalThis.localStorage = {
  getItem: (name) => kept.get(name) ?? null,
  setItem: (name, value) => kept.set(name, value),
  removeItem: (name) => kept.delete(name),
};
globalThis.window = { localStorage };

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

const { createSaleorClient } = createRequire(import.meta.url)('@saleor/sdk');
const [apiUrl, email, password] = process.argv.slice(2);
// With so large a skew every request finds its token too old, and refreshes it first.
const fetchOpts = { tokenRefreshTimeSkew: 3600 };

const first = createSaleorClient({ apiUrl, channel: 'default-channel', opts: { fetchOpts } });
const { data } = await first.auth.login({ email, password });
assert.deepEqual(data.tokenCreate.errors, []);
assert.equal(first.getState().user.email, email);

const address = { firstName: 'Ann', lastName: 'Lee', streetAddress1: 'Main Street 1' };
const created = await first.user.createAccountAddress({
  input: { ...address, city: 'Wroclaw', postalCode: '53-601', country: 'PL' },
});
assert.deepEqual(created.data.accountAddressCreate.errors, []);
const { id } = created.data.accountAddressCreate.address;
const chosen = await first.user.setAccountDefaultAddress({ id, type: 'SHIPPING' });
assert.deepEqual(chosen.data.accountSetDefaultAddress.errors, []);
const renamed = await first.user.updateAccount({ input: { firstName: 'Ann' } });
assert.deepEqual(renamed.data.accountUpdate.errors, []);
assert.equal(renamed.data.accountUpdate.user.firstName, 'Ann');
assert.equal(renamed.data.accountUpdate.user.defaultShippingAddress.country.code, 'PL');
assert.equal(operations.includes('refreshToken'), true, `${operations}`);
assert.equal((await first.auth.verifyToken()).data.tokenVerify.isValid, true);

// Another visit signs in by itself, with the stored refresh token.
const second = createSaleorClient({ apiUrl, channel: 'default-channel' });
const deadline = Date.now() + 30_000;
while (!second.getState()?.user && Date.now() < deadline) {
  await new Promise((resolve) => setTimeout(resolve, 20));
}
assert.equal(second.getState().user.email, email);
assert.deepEqual((await second.auth.refreshToken()).data.tokenRefresh.errors, []);

await second.auth.logout();
assert.equal(second.getState().user ?? null, null);
assert.equal(kept.size, 0);
assert.equal(operations.includes('externalRefresh'), false, `${operations}`);
