// jose: verify the shop's access tokens in another service, without a call to the API.

// --8<-- [start:verify]
import { createRemoteJWKSet, jwtVerify } from 'jose';

const apiUrl = process.env.API_URL; // such as https://shop.example.com/graphql/

// Fetched once, then cached.
const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', apiUrl));

export async function verify(token) {
  const { payload } = await jwtVerify(token, keys, {
    issuer: apiUrl,
    algorithms: ['RS256'],
  });
  if (payload.type !== 'access') {
    throw new Error(`Expected an access token, got ${payload.type}`);
  }
  return { userId: payload.user_id, email: payload.email };
}
// --8<-- [end:verify]
