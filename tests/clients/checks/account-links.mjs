// Checks account-links.mjs step by step, as the emails arrive: the step and what it needs.

import assert from 'node:assert/strict';

import { request } from '../fetch.mjs';
import { becomeBrowser } from './browser.mjs';

becomeBrowser();
const links = await import('../account-links.mjs');
const { auth, currentUser, resetPassword } = await import('../auth-sdk.mjs');
const PASSWORD = 'a sentence that opens the shop';

const ELSEWHERE = `mutation ($input: AccountRegisterInput!) {
  accountRegister(input: $input) { errors { field code } }
}`;

const steps = {
  async register(email) {
    const redirectUrl = 'https://elsewhere.example/confirm';
    const refused = await request(ELSEWHERE, { input: { email, password: PASSWORD, redirectUrl } });
    const [error] = refused.data.accountRegister.errors;
    assert.deepEqual(error, { field: 'redirectUrl', code: 'INVALID' });
    const { requiresConfirmation, errors } = await links.register(email, PASSWORD);
    assert.deepEqual([requiresConfirmation, errors], [true, []]);
    const { data } = await auth.signIn({ email, password: PASSWORD });
    assert.equal(data.tokenCreate.errors[0].code, 'ACCOUNT_NOT_CONFIRMED');
  },

  async confirm(pageUrl, email) {
    assert.deepEqual(await links.confirm(pageUrl), []);
    const { data } = await auth.signIn({ email, password: PASSWORD });
    assert.deepEqual(data.tokenCreate.errors, []);
    assert.notDeepEqual(await links.confirm(pageUrl), []);
  },

  async forget(email) {
    assert.deepEqual(await links.requestPasswordReset(email), []);
    assert.deepEqual(await links.requestPasswordReset('unknown@example.com'), []);
  },

  async reset(pageUrl, email) {
    const [weak] = (await links.resetPassword(pageUrl, 'short')).errors;
    assert.equal(weak.field, 'password');
    assert.deepEqual(await resetPassword(pageUrl, 'another sentence that opens it'), []);
    assert.equal((await currentUser()).email, email);
    const [used] = (await links.resetPassword(pageUrl, 'a third sentence for the shop')).errors;
    assert.equal(used.field, 'token');
  },
};

const [step, ...values] = process.argv.slice(2);
await steps[step](...values);
