// Checks what clients see while password login is disabled: an email and a password.

import assert from 'node:assert/strict';

import { requestPasswordReset } from '../account-links.mjs';
import { Session } from '../fetch.mjs';
import { becomeBrowser } from './browser.mjs';

becomeBrowser();
const { signIn } = await import('../auth-sdk.mjs');
const [email, password] = process.argv.slice(2);

for (const errors of [
  await new Session().signIn(email, password),
  await signIn(email, password),
  await requestPasswordReset(email),
]) {
  assert.deepEqual(errors.map((one) => one.code), ['DISABLED_AUTHENTICATION_METHOD']);
}
