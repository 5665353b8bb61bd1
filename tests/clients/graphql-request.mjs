// graphql-request: a query, a mutation, a batch.

// --8<-- [start:sign-in]
import { ClientError, gql, GraphQLClient } from 'graphql-request';

const apiUrl = process.env.API_URL; // such as https://shop.example.com/graphql/

const SIGN_IN = gql`
  mutation SignIn($email: String!, $password: String!) {
    tokenCreate(email: $email, password: $password) {
      token
      refreshToken
      errors { field message code }
    }
  }
`;

export async function signIn(email, password) {
  const { tokenCreate } = await new GraphQLClient(apiUrl).request(SIGN_IN, {
    email,
    password,
  });
  return tokenCreate;
}
// --8<-- [end:sign-in]

// --8<-- [start:query]
export const clientFor = (token) =>
  new GraphQLClient(apiUrl, {
    headers: { Authorization: `Bearer ${token}` },
  });

export async function currentUser(client) {
  try {
    const { me } = await client.request(gql`{ me { email } }`);
    return me;
  } catch (error) {
    // Any answer with errors: an expired token, a missing permission, …
    if (error instanceof ClientError)
      console.warn(error.response.errors[0].message);
    return null;
  }
}
// --8<-- [end:query]

// --8<-- [start:batch]
export async function userAndShop(client) {
  const [user, shop] = await client.batchRequests([
    { document: gql`{ me { email } }` },
    { document: gql`{ shop { name } }` },
  ]);
  return { ...user.data, ...shop.data };
}
// --8<-- [end:batch]
