// urql: queries by GET, mutations by POST.

// --8<-- [start:client]
import { cacheExchange, Client, fetchExchange } from '@urql/core';

const apiUrl = process.env.API_URL; // such as https://shop.example.com/graphql/

export const clientFor = (token) =>
  new Client({
    url: apiUrl,
    exchanges: [cacheExchange, fetchExchange],
    fetchOptions: () => ({ headers: { Authorization: `Bearer ${token}` } }),
  });
// --8<-- [end:client]

// --8<-- [start:query]
export async function currentUser(client) {
  const { data, error } = await client.query('{ me { email } }', {});
  if (error) throw error; // a CombinedError: graphQLErrors, networkError
  return data.me;
}
// --8<-- [end:query]

// --8<-- [start:auth-sdk]
export const clientWith = (auth) =>
  new Client({
    url: apiUrl,
    exchanges: [cacheExchange, fetchExchange],
    fetch: auth.fetchWithAuth, // of @saleor/auth-sdk
    preferGetMethod: false, // it compares the URL with the token's issuer
  });
// --8<-- [end:auth-sdk]
