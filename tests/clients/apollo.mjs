// Apollo Client: a token per request, persisted queries.

// --8<-- [start:client]
import {
  ApolloClient,
  ApolloLink,
  gql,
  HttpLink,
  InMemoryCache,
} from '@apollo/client';
import { SetContextLink } from '@apollo/client/link/context';

const apiUrl = process.env.API_URL; // such as https://shop.example.com/graphql/

export function clientFor(currentToken) {
  const credential = new SetContextLink(({ headers }) => ({
    headers: { ...headers, Authorization: `Bearer ${currentToken()}` },
  }));
  return new ApolloClient({
    link: ApolloLink.from([credential, new HttpLink({ uri: apiUrl })]),
    cache: new InMemoryCache(),
  });
}
// --8<-- [end:client]

// --8<-- [start:query]
export async function currentUser(client) {
  const { data } = await client.query({
    query: gql`query Me { me { id email } }`,
  });
  return data.me;
}
// --8<-- [end:query]

// --8<-- [start:auth-sdk]
export const clientWith = (auth) =>
  new ApolloClient({
    link: new HttpLink({ uri: apiUrl, fetch: auth.fetchWithAuth }),
    cache: new InMemoryCache(),
  });
// --8<-- [end:auth-sdk]

// --8<-- [start:persisted]
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { sha256 } from 'crypto-hash';

export const persistingClient = () =>
  new ApolloClient({
    link: ApolloLink.from([
      new PersistedQueryLink({ sha256 }),
      new HttpLink({ uri: apiUrl }),
    ]),
    cache: new InMemoryCache(),
  });
// --8<-- [end:persisted]
