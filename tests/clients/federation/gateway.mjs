// A gateway that serves Latchkey and a catalogue as one graph.

// --8<-- [start:compose]
import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';

// Latchkey's schema is in its API, with the directives of Federation.
export async function schemaOf(apiUrl) {
  const response = await fetch(apiUrl, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: '{ _service { sdl } }' }),
  });
  const { data } = await response.json();
  return parse(data._service.sdl);
}

export function compose(...subgraphs) {
  const { supergraphSdl, errors } = composeServices(subgraphs);
  if (errors) throw new Error(errors.map((error) => error.message).join('\n'));
  return supergraphSdl;
}
// --8<-- [end:compose]

// --8<-- [start:credentials]
// `Authorization-Bearer: TOKEN` comes before `Authorization: Bearer TOKEN`, as in Latchkey.
const CREDENTIALS = ['authorization-bearer', 'authorization'];

const credentials = ({ headers }) =>
  Object.fromEntries(
    CREDENTIALS.filter((name) => headers.has(name)).map((name) => [name, headers.get(name)]),
  );
// --8<-- [end:credentials]

// --8<-- [start:verify]
import { createRemoteJWKSet, jwtVerify } from 'jose';

// Who is calling, for subgraphs that can't ask: by the key set, without a call to Latchkey.
function verifier(latchkey, issuer) {
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', latchkey));
  return async (request) => {
    const [credential] = Object.values(credentials(request));
    const token = credential?.replace(/^(Bearer|JWT) +/i, '');
    try {
      const { payload } = await jwtVerify(token, keys, { issuer, algorithms: ['RS256'] });
      return payload.type === 'access' ? payload.user_id : undefined;
    } catch {
      return undefined; // or no token: Latchkey says what is wrong, at the fields that need it
    }
  };
}
// --8<-- [end:verify]

// --8<-- [start:storefront]
// The switch also counts for what never reaches Latchkey: each request asks for nothing first.
const askForStorefront = (latchkey) => ({
  async onRequest({ request, endResponse }) {
    if (request.method === 'OPTIONS') return;
    const answer = await fetch(latchkey, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...credentials(request) },
      body: JSON.stringify({ query: '{ __typename }' }),
    });
    if (answer.status !== 200) {
      const headers = { 'Content-Type': answer.headers.get('content-type') };
      endResponse(new Response(await answer.text(), { status: answer.status, headers }));
    }
  },
});
// --8<-- [end:storefront]

// --8<-- [start:serve]
import { createServer } from 'node:http';

import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';

export async function serve(supergraph, latchkey, issuer) {
  const userOf = verifier(latchkey, issuer);
  const gateway = createGatewayRuntime({
    supergraph,
    graphqlEndpoint: new URL(issuer).pathname,
    plugins: () => [askForStorefront(latchkey)],
    maskedErrors: false, // Latchkey masks its own faults; its other errors are for clients
    propagateHeaders: {
      async fromClientToSubgraphs({ request, subgraphName, context }) {
        if (subgraphName !== 'latchkey') return { 'x-user-id': await userOf(request) };
        const client = context.req.socket.remoteAddress; // behind a proxy: the header that it sets
        return { ...credentials(request), 'x-forwarded-for': client };
      },
    },
  });
  const server = createServer(gateway);
  await new Promise((resolve) => server.listen(new URL(issuer).port, '127.0.0.1', resolve));
  return { server, gateway };
}
// --8<-- [end:serve]
