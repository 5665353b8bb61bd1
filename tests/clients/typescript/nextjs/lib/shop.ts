export async function query(
  document: string,
  variables: Record<string, unknown> = {},
  headers: Record<string, string> = {},
) {
  const response = await fetch(process.env.API_URL!, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ query: document, variables }),
    cache: 'no-store',
  });
  return response.json();
}

export const ACCESS = 'access_token';
export const REFRESH = 'refresh_token';

const EARLY = 1000; // milliseconds for the page's own requests
const payload = (token: string) =>
  Buffer.from(token.split('.')[1], 'base64url').toString();
const expiry = (token: string): number => JSON.parse(payload(token)).exp * 1000;

export const isFresh = (token?: string) =>
  Boolean(token) && expiry(token!) - EARLY > Date.now();

// No script of the page can read the cookie, and it ends with its token.
export const cookieFor = (name: string, token: string) => ({
  name,
  value: token,
  httpOnly: true,
  sameSite: 'lax' as const,
  secure: process.env.NODE_ENV === 'production',
  path: '/',
  expires: new Date(expiry(token)),
});
