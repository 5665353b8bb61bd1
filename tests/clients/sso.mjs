// A storefront whose customers sign in with an identity provider, with @saleor/auth-sdk.

// --8<-- [start:begin]
import { ExternalProvider, SaleorExternalAuth } from '@saleor/auth-sdk';

import { auth } from './auth-sdk.mjs'; // the client of the section above

const apiUrl = process.env.API_URL; // such as https://shop.example.com/graphql/
const provider = ExternalProvider.OpenIDConnect; // the shop's default provider
const externalAuth = new SaleorExternalAuth(apiUrl, provider);

// Send the browser there.
export function signInUrl() {
  return externalAuth.initiate({
    redirectURL: 'http://localhost:3000/callback',
  });
}
// --8<-- [end:begin]

// --8<-- [start:finish]
// The browser came back to http://localhost:3000/callback?code=…&state=…
export async function finishSignIn(pageUrl) {
  const { code, state } = Object.fromEntries(new URL(pageUrl).searchParams);
  const { token, refreshToken, errors } = await externalAuth.obtainAccessToken({
    code,
    state,
  });
  if (errors.length === 0) {
    auth.accessTokenStorage.setAccessToken(token);
    if (refreshToken) auth.refreshTokenStorage.setRefreshToken(refreshToken);
  }
  return errors;
}
// --8<-- [end:finish]

// --8<-- [start:refresh]
const REFRESH = `mutation Refresh($pluginId: String!, $input: JSONString!) {
  externalRefresh(pluginId: $pluginId, input: $input) {
    token refreshToken errors { field message code }
  }
}`;
let refreshing = null; // requests that find the token expired share one refresh

async function refresh() {
  const refreshToken = auth.refreshTokenStorage.getRefreshToken();
  const input = JSON.stringify({ refreshToken });
  const response = await fetch(apiUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      query: REFRESH,
      variables: { pluginId: provider, input },
    }),
  });
  const { data } = await response.json();
  const { token, refreshToken: next } = data.externalRefresh;
  if (token) {
    auth.accessTokenStorage.setAccessToken(token);
    auth.refreshTokenStorage.setRefreshToken(next);
  } else auth.signOut(); // the session is over, here or at the provider
}

const hasExpired = (token) =>
  !token || JSON.parse(atob(token.split('.')[1])).exp * 1000 < Date.now() + 2000;

// Use it in place of auth.fetchWithAuth.
export async function fetchWithSso(url, init) {
  const isSignedIn = auth.refreshTokenStorage.getRefreshToken();
  if (isSignedIn && hasExpired(auth.accessTokenStorage.getAccessToken())) {
    refreshing ??= refresh().finally(() => (refreshing = null));
    await refreshing;
  }
  return auth.fetchWithAuth(url, init);
}
// --8<-- [end:refresh]

// --8<-- [start:sign-out]
const LOGOUT = `mutation Logout($pluginId: String!, $input: JSONString!) {
  externalLogout(pluginId: $pluginId, input: $input) {
    logoutData errors { field message code }
  }
}`;

// Returns the provider's page for signing out there too, if it has one.
export async function signOut() {
  const input = JSON.stringify({
    post_logout_redirect_uri: 'http://localhost:3000/bye',
  });
  const response = await auth.fetchWithAuth(apiUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      query: LOGOUT,
      variables: { pluginId: provider, input },
    }),
  });
  const { data } = await response.json();
  auth.signOut();
  return JSON.parse(data.externalLogout.logoutData ?? '{}').logoutUrl ?? null;
}
// --8<-- [end:sign-out]
