import { createSaleorAuthClient } from '@saleor/auth-sdk';

const apiUrl = process.env.API_URL!; // such as https://shop.example.com/graphql/

// The refresh token is kept in localStorage, the access token in memory.
export const auth = createSaleorAuthClient({ saleorApiUrl: apiUrl });

export async function signIn(email: string, password: string) {
  const { data } = await auth.signIn({ email, password });
  return data!.tokenCreate!.errors; // empty after a success
}

// The client adds the access token, and gets a new one when it has expired.
export async function currentUser() {
  const response = await auth.fetchWithAuth(apiUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: '{ me { email firstName } }' }),
  });
  const { data } = await response.json();
  return data.me; // null for a visitor
}

export function signOut() {
  auth.signOut(); // removes the tokens from this browser
}

// The customer came to https://shop.example.com/reset?email=…&token=…
export async function resetPassword(pageUrl: string, password: string) {
  const { email, token } = Object.fromEntries(new URL(pageUrl).searchParams);
  const { data } = await auth.resetPassword({ email, token, password });
  return data!.setPassword!.errors; // empty after a success: signed in
}
