// Checks fetch.mjs against a shop whose access tokens live for a few seconds.

import assert from 'node:assert/strict';

import { request, Session, signOut } from '../fetch.mjs';
import { expiry, recordRequests } from './browser.mjs';

const [email, password] = process.argv.slice(2);
const ME = '{ me { email } }';
const sent = recordRequests();
const refreshes = () => sent.filter((one) => one.body.includes('tokenRefresh(')).length;

const session = new Session();
assert.deepEqual((await session.query(ME)).data, { me: null });
assert.deepEqual(await session.signIn(email, password), []);

await expiry(session.token);
const answers = await Promise.all([1, 2, 3].map(() => session.query(ME)));
assert.deepEqual(answers.map((one) => one.data.me.email), [email, email, email]);
assert.equal(refreshes(), 1);

const { token, refreshToken } = session;
await signOut(session);
assert.deepEqual([session.token, session.refreshToken], [null, null]);
// The tokens are of no use to anyone who copied them.
const [error] = (await request(ME, {}, token)).errors;
assert.equal(error.extensions.exception.code, 'InvalidTokenError');
const copied = Object.assign(new Session(), { refreshToken });
await copied.refresh();
assert.deepEqual([copied.token, copied.refreshToken], [null, null]);

const [refused] = await session.signIn(email, 'not the password');
assert.deepEqual([refused.field, refused.code], ['email', 'INVALID_CREDENTIALS']);
