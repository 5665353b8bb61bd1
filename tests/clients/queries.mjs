// The GraphQL clients that storefronts use: API URL, email and password as arguments.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';

import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client/core/index.js';
import { createPersistedQueryLink } from '@apollo/client/link/persisted-queries/index.js';
import { Client, fetchExchange } from '@urql/core';
import { batchRequests, GraphQLClient } from 'graphql-request';
import { createRemoteJWKSet, jwtVerify } from 'jose';

const [url, email, password] = process.argv.slice(2);
const ME = 'query Me { me { email } }';
const SIGN_IN = `mutation SignIn($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) { token errors { field code } }
}`;

async function useGraphqlRequest() {
  const anonymous = new GraphQLClient(url);
  const { tokenCreate } = await anonymous.request(SIGN_IN, { email, password });
  assert.deepEqual(tokenCreate.errors, []);
  const headers = { Authorization: `Bearer ${tokenCreate.token}` };
  assert.deepEqual(await new GraphQLClient(url, { headers }).request(ME), { me: { email } });
  const batch = await batchRequests(url, [{ document: ME }, { document: '{ __typename }' }], headers);
  assert.deepEqual(batch.map((one) => one.data), [{ me: { email } }, { __typename: 'Query' }]);
  return tokenCreate.token;
}

async function useUrql(token) {
  const methods = [];
  const client = new Client({
    url,
    exchanges: [fetchExchange],
    fetch: (address, options) => {
      methods.push(options.method);
      return fetch(address, options);
    },
    fetchOptions: { headers: { Authorization: `Bearer ${token}` } },
  });
  const query = await client.query('query Me($with: Boolean!) { me { email @include(if: $with) } }', {
    with: true,
  });
  assert.deepEqual([query.error, query.data.me.email], [undefined, email]);
  const mutation = await client.mutation(SIGN_IN, { email, password });
  assert.deepEqual(mutation.data.tokenCreate.errors, []);
  assert.deepEqual(methods, ['GET', 'POST']);
}

async function useApollo(token) {
  const sent = [];
  const http = new HttpLink({
    uri: url,
    headers: { Authorization: `Bearer ${token}` },
    fetch: (address, options) => {
      sent.push(Object.keys(JSON.parse(options.body)).includes('query'));
      return fetch(address, options);
    },
  });
  const sha256 = (text) => createHash('sha256').update(text).digest('hex');
  const link = ApolloLink.from([createPersistedQueryLink({ sha256 }), http]);
  const client = new ApolloClient({ link, cache: new InMemoryCache() });
  for (const _ of [1, 2]) {
    const { data } = await client.query({ query: gql(ME), fetchPolicy: 'no-cache' });
    assert.equal(data.me.email, email);
  }
  // The first request is a hash alone; after the refusal the client sends queries.
  assert.deepEqual(sent, [false, true, true]);
  await assert.rejects(client.query({ query: gql`{ nothing }` }));
}

async function useJose(token) {
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', url));
  const { payload } = await jwtVerify(token, keys, { issuer: url, algorithms: ['RS256'] });
  assert.deepEqual([payload.email, payload.owner, payload.type], [email, 'saleor', 'access']);
}

const token = await useGraphqlRequest();
await useUrql(token);
await useApollo(token);
await useJose(token);
