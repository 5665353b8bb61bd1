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
