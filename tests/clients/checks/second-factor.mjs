// Checks second-factor.mjs with an account that has an authenticator app and a passkey.

import assert from 'node:assert/strict';

// There are no passkeys on an IP address.
process.env.API_URL = process.env.API_URL.replace('127.0.0.1', 'localhost');
const { request } = await import('../fetch.mjs');
const { prove, signIn, signInWithPasskey } = await import('../second-factor.mjs');

const [email, password, recoveryCode, otherRecoveryCode, plainEmail] = process.argv.slice(2);
const ME = '{ me { email secondFactors { type } } }';
const claims = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));
const asked = [];

const entered = await signIn(email, password, async (types, error) => {
  asked.push([types, error.code]);
  if (asked.length > 1) await new Promise((done) => setTimeout(done, 1100)); // the throttle
  return asked.length > 1 ? recoveryCode : '000000';
});
assert.deepEqual(entered.errors, []);
const TYPES = ['PASSKEY', 'AUTHENTICATOR_APP', 'RECOVERY_CODES'];
assert.deepEqual(asked, [[TYPES, 'SECOND_FACTOR_REQUIRED'], [TYPES, 'INVALID_SECOND_FACTOR']]);
assert.deepEqual(claims(entered.token).amr, ['pwd', 'otp', 'mfa']);
const { data } = await request(ME, {}, entered.token);
assert.deepEqual(data.me.email, email);

const proved = await prove(entered.token, otherRecoveryCode);
assert.equal(claims(proved.token).token, claims(entered.token).token);

const plain = await signIn(plainEmail, password, () => assert.fail('no code is needed'));
assert.equal(claims(plain.token).amr, undefined);
assert.equal((await prove(plain.token, '000000')).errors[0].code, 'NOT_FOUND');

// A browser's part, as far as this program sees it: it refuses what isn't a right answer.
globalThis.PublicKeyCredential = { parseRequestOptionsFromJSON: (options) => options };
Object.defineProperty(globalThis, 'navigator', {
  value: { credentials: { get: async ({ publicKey }) => ({ id: publicKey.challenge }) } },
});
const refused = await signInWithPasskey();
assert.deepEqual(refused.errors.map((one) => [one.field, one.code]), [
  ['credential', 'INVALID_SECOND_FACTOR'],
]);
