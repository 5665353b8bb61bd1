// Checks nextjs/ as Next.js would run it: the proxy before each page and action.
//
// Instead of Next.js itself (128 MB) the modules of nextjs/stand-in answer for `next/server` and
// `next/headers`, with the cookies package that Next.js contains.

import assert from 'node:assert/strict';

import { ResponseCookies } from '@edge-runtime/cookies';

import { signIn, signOut } from '../nextjs/app/actions.js';
import { serverAuth } from '../nextjs/lib/auth.js';
import { currentUser } from '../nextjs/lib/current-user.js';
import { isFresh } from '../nextjs/lib/shop.js';
import { proxy } from '../nextjs/proxy.js';
import { answering } from '../nextjs/stand-in/headers.mjs';
import { NextRequest } from '../nextjs/stand-in/server.mjs';
import { expiry, recordRequests } from './browser.mjs';

const apiUrl = process.env.API_URL;
const [email, password] = process.argv.slice(2);
const sent = recordRequests();
const refreshes = () => sent.filter((one) => one.body.includes('tokenRefresh(')).length;

// A browser that keeps cookies until they expire, and the storefront's server.
class Visitor {
  jar = new Map();

  constructor(address) {
    this.address = address;
  }

  page = (render) => this.visit(render, true);
  act = (action) => this.visit(action, false);

  async visit(act, isPage) {
    const request = new NextRequest('http://localhost:3000/account', {
      headers: { cookie: this.cookies(), 'x-forwarded-for': this.address },
    });
    const proxied = await proxy(request);
    const headers = new Headers(proxied.headers);
    const rendered = { headers: proxied.forwarded ?? request.headers };
    const result = await answering(rendered, headers, isPage, act);
    this.keep(headers);
    return result;
  }

  cookies() {
    const now = Date.now();
    const live = [...this.jar.values()].filter(({ expires }) => !expires || expires > now);
    return live.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('; ');
  }

  keep(headers) {
    for (const cookie of new ResponseCookies(headers).getAll()) {
      if (cookie.value) assert.equal(cookie.httpOnly, true);
      this.jar.set(cookie.name, cookie);
    }
  }

  value = (name) => this.jar.get(name)?.value;
}

const form = (given) => {
  const data = new FormData();
  data.append('email', email);
  data.append('password', given);
  return data;
};

// A claim can make the token's text differ from ordinary Base64.
const exp = Math.floor(Date.now() / 1000) + 60;
const odd = Buffer.from(JSON.stringify({ email: '???~~~@example.com', exp })).toString('base64url');
assert.match(odd, /[-_]/);
assert.equal(isFresh(`header.${odd}.signature`), true);

const ann = new Visitor('203.0.113.1');
assert.equal(await ann.page(currentUser), null);
assert.deepEqual(await ann.act(() => signIn(form(password))), []);
assert.equal((await ann.page(currentUser)).email, email);
assert.equal(refreshes(), 0);

// The page that finds the token expired is rendered with a new one, which the browser keeps.
const first = ann.value('access_token');
await expiry(first);
assert.equal((await ann.page(currentUser)).email, email);
assert.notEqual(ann.value('access_token'), first);
assert.equal((await ann.page(currentUser)).email, email);
assert.equal(refreshes(), 1);

// Another customer's incorrect password doesn't make this one wait.
const bob = new Visitor('203.0.113.2');
const [refused] = await bob.act(() => signIn(form('not the password')));
assert.equal(refused.code, 'INVALID_CREDENTIALS');
assert.deepEqual(await new Visitor('203.0.113.3').act(() => signIn(form(password))), []);
const [delayed] = await bob.act(() => signIn(form(password)));
assert.equal(delayed.code, 'LOGIN_ATTEMPT_DELAYED');

// Signing out ends the session on the server too: a copy of its cookies is of no use.
const thief = new Visitor('203.0.113.4');
thief.jar = new Map(ann.jar);
await ann.act(signOut);
assert.equal(ann.cookies(), '');
assert.equal(await ann.page(currentUser), null);
thief.jar.delete('access_token');
assert.equal(await thief.page(currentUser), null);
assert.equal(thief.cookies(), '');

// @saleor/auth-sdk keeps its tokens in cookies of its own.
const me = async () => {
  const auth = await serverAuth();
  const response = await auth.fetchWithAuth(apiUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: '{ me { email } }' }),
  });
  return (await response.json()).data.me;
};
const eve = new Visitor('203.0.113.5');
const { data } = await eve.act(async () => (await serverAuth()).signIn({ email, password }));
assert.deepEqual(data.tokenCreate.errors, []);
assert.equal((await eve.page(me)).email, email);
await expiry(data.tokenCreate.token);
assert.equal((await eve.page(me)).email, email);
await eve.act(async () => (await serverAuth()).signOut());
assert.equal(await eve.page(me), null);
