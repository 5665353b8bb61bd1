// next/headers: the cookies and headers of the request that is being answered.
//
// As in Next.js, cookies can't be changed while a page is rendered.

import { AsyncLocalStorage } from 'node:async_hooks';

import { RequestCookies, ResponseCookies } from '@edge-runtime/cookies';

const current = new AsyncLocalStorage();

export const cookies = async () => current.getStore().cookies;
export const headers = async () => current.getStore().headers;

// Run `act` for a request; `sent` are the headers of the response.
export function answering(request, sent, isPage, act) {
  const received = new RequestCookies(request.headers);
  const changed = new ResponseCookies(sent);
  const change = (act) => {
    if (isPage) throw new Error('Cookies can only be modified in a Server Action or Route Handler');
    act();
  };
  const store = {
    get: (name) => received.get(name),
    set: (...cookie) => change(() => (received.set(...cookie), changed.set(...cookie))),
    delete: (name) => change(() => (received.delete(name), changed.delete(name))),
  };
  return current.run({ cookies: store, headers: request.headers }, act);
}
