// Another subgraph: favourites of customers and ratings of products.

// --8<-- [start:subgraph]
import { createServer } from 'node:http';

import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { createYoga } from 'graphql-yoga';

export const typeDefs = parse(`
  extend schema @link(
    url: "https://specs.apollo.dev/federation/v2.0"
    import: ["@key", "@override", "@shareable"]
  )

  type Query { bestRated: Product! }

  type User @key(fields: "id") { id: ID!  favourites: [Product!] }

  type Product @key(fields: "id channel") {
    id: ID!
    channel: String
    rating: Float!
    description: String @override(from: "latchkey")
    from: Money!
  }

  type Money @shareable { currency: String!  amount: Float! }
`);

// The gateway says who is calling, in a header that it takes from no client.
const resolvers = (favourites) => ({
  Query: { bestRated: () => favourites[0] },
  User: { favourites: (user, _, { request }) =>
    request.headers.get('x-user-id') === user.id ? favourites : null },
  Product: {
    rating: () => 4.5,
    description: ({ channel }) => `As seen in ${channel}`,
    from: () => ({ currency: 'USD', amount: 5 }),
  },
});

export async function serve(favourites) {
  const schema = buildSubgraphSchema([{ typeDefs, resolvers: resolvers(favourites) }]);
  const server = createServer(createYoga({ schema, logging: 'error' }));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${server.address().port}/graphql` };
}
// --8<-- [end:subgraph]
