// Checks that a storefront works through a gateway at PUBLIC_URL, which serves a catalogue as well.

import assert from 'node:assert/strict';

import { becomeBrowser, expiry, recordRequests } from '../checks/browser.mjs';
import * as catalogue from './catalogue.mjs';
import * as gateway from './gateway.mjs';

const [publicUrl, product, admin, email, password] = process.argv.slice(2);
const latchkey = process.env.API_URL;
const { server: shelf, url } = await catalogue.serve([{ id: product, channel: 'fr' }]);
const supergraph = gateway.compose(
  { name: 'latchkey', url: latchkey, typeDefs: await gateway.schemaOf(latchkey) },
  { name: 'catalogue', url, typeDefs: catalogue.typeDefs },
);
const { server, gateway: runtime } = await gateway.serve(supergraph, latchkey, publicUrl);

becomeBrowser();
process.env.API_URL = publicUrl;
const { auth, signIn } = await import('../auth-sdk.mjs');
const { request, Session } = await import('../fetch.mjs');

const MINE = '{ me { id email favourites { slug channel rating description price { amount } } } }';
const BEST = '{ bestRated { name rating from { amount } } }';
const THEIRS = 'query Theirs($id: ID!) { user(id: $id) { email favourites { rating } } }';
const SWITCH = `mutation Switch($open: Boolean) {
  shopSettingsUpdate(input: { allowStorefrontTraffic: $open }) { errors { code } }
}`;
const FAVOURITE = {
  ...{ slug: 'bowl', channel: 'fr', rating: 4.5, description: 'As seen in fr' },
  price: { amount: 12.5 },
};
const SHOWN = { name: 'Bowl', rating: 4.5, from: { amount: 5 } };

try {
  await check();
} finally {
  server.close();
  shelf.close();
  await runtime[Symbol.asyncDispose]();
}

async function ask(query) {
  const response = await auth.fetchWithAuth(publicUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query }),
  });
  return (await response.json()).data;
}

async function post(query, variables, headers) {
  const response = await fetch(publicUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query, variables }),
  });
  return response.json();
}

async function check() {
  assert.deepEqual(await ask(MINE), { me: null });
  assert.deepEqual((await ask(BEST)).bestRated, SHOWN);

  assert.deepEqual(await signIn(email, password), []);
  const { me } = await ask(MINE);
  assert.deepEqual([me.email, me.favourites], [email, [FAVOURITE]]);
  const customer = new Session();
  assert.deepEqual(await customer.signIn(email, password), []);
  const { token } = customer;
  const byOtherHeader = await post(MINE, {}, { 'Authorization-Bearer': token });
  assert.deepEqual(byOtherHeader.data.me, me);
  await expiry(token);
  const sent = recordRequests();
  assert.deepEqual((await ask(MINE)).me.favourites, [FAVOURITE]);
  assert.equal(sent.filter((one) => `${one.body}`.includes('tokenRefresh(')).length, 1);
  // This one sends the expired token, and the API's own error comes through.
  assert.deepEqual((await customer.query(MINE)).data.me, me);
  assert.notEqual(customer.token, token);

  // Who is calling is the gateway's word, not the client's.
  const staff = new Session();
  assert.deepEqual(await staff.signIn(admin, password), []);
  const credential = { Authorization: `Bearer ${staff.token}` };
  const asOther = await post(THEIRS, { id: me.id }, { ...credential, 'X-User-Id': me.id });
  assert.deepEqual(asOther.data.user, { email, favourites: null });

  await setOpen(staff, false);
  try {
    for (const query of [BEST, MINE, '{ __schema { queryType { name } } }']) {
      await assert.rejects(request(query), /The storefront is closed/);
      await assert.rejects(request(query, {}, customer.token), /The storefront is closed/);
    }
    await assert.rejects(new Session().signIn(email, password), /The storefront is closed/);
    await assert.rejects(auth.signIn({ email, password }), TypeError); // see checks/closed.mjs
    assert.deepEqual((await staff.query(BEST)).data.bestRated, SHOWN);
  } finally {
    await setOpen(staff, true);
  }
  assert.deepEqual((await request(BEST)).data.bestRated, SHOWN);
}

async function setOpen(staff, open) {
  const { data } = await staff.query(SWITCH, { open });
  assert.deepEqual(data.shopSettingsUpdate.errors, []);
}
