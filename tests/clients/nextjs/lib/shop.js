// What the proxy, the actions and the pages share: requests to the shop, and two cookies.

// --8<-- [start:request]
export async function query(document, variables = {}, headers = {}) {
  const response = await fetch(process.env.API_URL, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query: document, variables }),
    cache: 'no-store',
  });
  return response.json();
}
// --8<-- [end:request]

// --8<-- [start:cookies]
export const ACCESS = 'access_token';
export const REFRESH = 'refresh_token';

const EARLY = 1000; // milliseconds for the page's own requests
const payload = (token) =>
  Buffer.from(token.split('.')[1], 'base64url').toString();
const expiry = (token) => JSON.parse(payload(token)).exp * 1000;

export const isFresh = (token) =>
  Boolean(token) && expiry(token) - EARLY > Date.now();

// No script of the page can read the cookie, and it ends with its token.
export const cookieFor = (name, token) => ({
  name,
  value: token,
  httpOnly: true,
  sameSite: 'lax',
  secure: process.env.NODE_ENV === 'production',
  path: '/',
  expires: new Date(expiry(token)),
});
// --8<-- [end:cookies]
