// Checks the GraphQL clients against a shop: email and password as arguments.

import assert from 'node:assert/strict';

import { becomeBrowser, recordRequests } from './browser.mjs';

becomeBrowser();
const apollo = await import('../apollo.mjs');
const graphqlRequest = await import('../graphql-request.mjs');
const urql = await import('../urql.mjs');
const { verify } = await import('../jose.mjs');
const { updateAvatar } = await import('../upload.mjs');
const { auth, signIn } = await import('../auth-sdk.mjs');
const [email, password] = process.argv.slice(2);
const sent = recordRequests();

async function sentBy(act) {
  sent.length = 0;
  const result = await act();
  return [sent.map((one) => one.method), result];
}

const { token, refreshToken, errors } = await graphqlRequest.signIn(email, password);
assert.deepEqual(errors, []);
assert.deepEqual(await signIn(email, password), []);

// graphql-request
const client = graphqlRequest.clientFor(token);
assert.deepEqual(await graphqlRequest.currentUser(client), { email });
assert.deepEqual(Object.keys(await graphqlRequest.userAndShop(client)), ['me', 'shop']);
const { warn } = console;
const warnings = [];
console.warn = (text) => warnings.push(text);
assert.equal(await graphqlRequest.currentUser(graphqlRequest.clientFor('no token')), null);
console.warn = warn;
assert.equal(warnings.length, 1);

// urql: with its defaults a query is a GET
const emailBy = async (chosen) => (await urql.currentUser(chosen)).email;
assert.deepEqual(await sentBy(() => emailBy(urql.clientFor(token))), [['GET'], email]);
assert.deepEqual(await sentBy(() => emailBy(urql.clientWith(auth))), [['POST'], email]);

// Apollo Client
assert.equal((await apollo.currentUser(apollo.clientFor(() => token))).email, email);
assert.equal((await apollo.currentUser(apollo.clientWith(auth))).email, email);
await assert.rejects(apollo.currentUser(apollo.clientFor(() => 'no token')));
const [, visitor] = await sentBy(() => apollo.currentUser(apollo.persistingClient()));
assert.equal(visitor, null);
// The first request is a hash alone; after the shop's refusal the client sends the query.
assert.deepEqual(sent.map((one) => 'query' in JSON.parse(one.body)), [false, true]);

// jose
assert.equal((await verify(token)).email, email);
await assert.rejects(verify(refreshToken), /Expected an access token/);
await assert.rejects(verify(`${token.slice(0, -6)}AAAAAA`), /signature verification failed/);

// Uploads
const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const stored = await updateAvatar(new File([pixel], 'me.png', { type: 'image/png' }), token);
assert.deepEqual(stored.errors, []);
assert.equal((await fetch(stored.user.avatar.url)).headers.get('content-type'), 'image/webp');
const text = new File(['no picture'], 'me.png', { type: 'image/png' });
assert.equal((await updateAvatar(text, token)).errors[0].field, 'image');
