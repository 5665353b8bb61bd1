// Checks that two queries of a page, one with the ID of `me` and one without, come to rest.
//
// Apollo's cache can't tell that both are about the same person: each answer replaces the other's, and
// the query that lost its data is sent again. It ends because an answer that equals what the cache
// made of the last one isn't written. Saleor's dashboard has such a pair on its group page.

import assert from 'node:assert/strict';

import apollo from '@apollo/client/core/core.cjs';

import { until } from '../checks/browser.mjs';

const { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } = apollo;
const [email, password] = process.argv.slice(2);
const uri = process.env.API_URL;
const SIGN_IN = gql`mutation SignIn($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) { token }
}`;
const ACCOUNT = gql`query Account {
  me { id email isStaff dateJoined metadata { key value } userPermissions { code name } }
}`;
const GROUPS = gql`query Groups {
  permissionGroups(first: 5) {
    edges { node { id name userCanManage users { id email isActive } permissions { code } } }
  }
  me { editableGroups { id } userPermissions { code } }
}`;

const setup = new ApolloClient({ uri, cache: new InMemoryCache() });
const { data } = await setup.mutate({ mutation: SIGN_IN, variables: { email, password } });
const headers = { Authorization: `Bearer ${data.tokenCreate.token}` };

// Send both, as often as the cache wants; `change` sees each answer.
function open(change) {
  const sent = { Account: 0, Groups: 0, waiting: 0 };
  const count = new ApolloLink((operation, forward) => {
    sent[operation.operationName] += 1;
    sent.waiting += 1;
    return forward(operation).map((answer) => {
      sent.waiting -= 1;
      return change(answer);
    });
  });
  const link = ApolloLink.from([count, new HttpLink({ uri, headers })]);
  const client = new ApolloClient({ cache: new InMemoryCache(), link });
  const watch = (query) => client.watchQuery({ query, fetchPolicy: 'cache-and-network' });
  const answered = (query) => new Promise((resolve) => {
    watch(query).subscribe(({ loading, data }) => !loading && data && resolve());
  });
  const close = () => client.stop();
  return { sent, answered, close };
}

const page = open((answer) => answer);
await page.answered(ACCOUNT);
await page.answered(GROUPS);
await until(() => page.sent.Account === 2 && !page.sent.waiting);
for (let turn = 0; turn < 20; turn += 1) {
  await new Promise((resolve) => setTimeout(resolve, 5)); // the cache tells its queries in timers
}
assert.deepEqual(page.sent, { Account: 2, Groups: 1, waiting: 0 });
page.close();

// The control: an answer that the cache reads back otherwise, here with a field too many.
const restless = open((answer) => {
  answer.data.me.unasked = true;
  return answer;
});
await restless.answered(ACCOUNT);
await restless.answered(GROUPS);
await until(() => restless.sent.Groups > 5);
assert.ok(restless.sent.Groups > 5, JSON.stringify(restless.sent));
restless.close();
process.exit();
