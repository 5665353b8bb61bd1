// Checks what clients see while the storefront is closed: an admin's sign-in and a customer's.

import assert from 'node:assert/strict';

import { request, Session } from '../fetch.mjs';
import { becomeBrowser } from './browser.mjs';

becomeBrowser();
const { auth, currentUser, signIn } = await import('../auth-sdk.mjs');
const [admin, email, password] = process.argv.slice(2);
const SWITCH = `mutation Switch($open: Boolean) {
  shopSettingsUpdate(input: { allowStorefrontTraffic: $open }) { errors { code } }
}`;

const staff = new Session();
assert.deepEqual(await staff.signIn(admin, password), []);
const setOpen = async (open) => {
  const { data } = await request(SWITCH, { open }, staff.token);
  assert.deepEqual(data.shopSettingsUpdate.errors, []);
};
const customer = new Session();
assert.deepEqual(await customer.signIn(email, password), []);
assert.deepEqual(await signIn(email, password), []);

await setOpen(false);
try {
  await assert.rejects(customer.query('{ me { email } }'), /The storefront is closed/);
  await assert.rejects(new Session().signIn(email, password), /The storefront is closed/);
  assert.equal((await staff.query('{ me { email } }')).data.me.email, admin);
  // @saleor/auth-sdk reads `data`, which a refused request doesn't have.
  await assert.rejects(auth.signIn({ email, password }), TypeError);
  auth.accessTokenStorage.clearAuthStorage();
  await assert.rejects(currentUser(), TypeError);
} finally {
  await setOpen(true);
}

assert.equal((await customer.query('{ me { email } }')).data.me.email, email);
await assert.rejects(currentUser(), TypeError); // it repeats the refused refresh; a new client doesn't
auth.tokenRefreshPromise = null;
assert.equal((await currentUser()).email, email);
