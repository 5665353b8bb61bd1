// Verify webhook requests. `node verify.mjs REQUESTS KEYS SHOP_URL` reads requests from a JSON file
// and prints, as JSON, whether each is accepted.

const [, , requestsFile, , SHOP_URL] = process.argv;

// --8<-- [start:jws]
import { createRemoteJWKSet, flattenedVerify } from 'jose';

const keySet = createRemoteJWKSet(new URL('/.well-known/jwks.json', SHOP_URL));

// `body` holds the bytes as they arrived. Throws unless the shop signed them.
export async function verifyWithKeySet(body, headers) {
  const [head, payload, signature] = headers['saleor-signature'].split('.');
  if (payload !== '') throw new Error('Expected a detached signature');
  const jws = { protected: head, payload: new Uint8Array(body), signature };
  await flattenedVerify(jws, keySet, { algorithms: ['RS256'] });
}
// --8<-- [end:jws]

// --8<-- [start:hmac]
import { createHmac, timingSafeEqual } from 'node:crypto';

// Throws unless the body was signed with the webhook's secret.
export function verifyWithSecret(body, headers, secret) {
  const expected = createHmac('sha256', secret).update(body).digest();
  const received = Buffer.from(headers['saleor-signature'], 'hex');
  if (expected.length !== received.length || !timingSafeEqual(expected, received)) {
    throw new Error('The signature does not match');
  }
}
// --8<-- [end:hmac]

// --8<-- [start:standard]
import { Webhook } from 'standardwebhooks';

// Throws unless ID, time and body were signed with the secret, at most five minutes ago.
export function verifyStandardWebhook(body, headers, secret) {
  return new Webhook(secret).verify(body.toString(), headers);
}
// --8<-- [end:standard]

// --8<-- [start:app-sdk]
import { getJwksUrlFromSaleorApiUrl, verifySignatureWithJwks } from '@saleor/app-sdk/auth';

// @saleor/app-sdk does this for webhooks that it declares; use it in a handler without it.
export async function verifyWithAppSdk(body, headers) {
  const apiUrl = `${SHOP_URL}/graphql/`;
  const response = await fetch(getJwksUrlFromSaleorApiUrl(apiUrl));
  const keys = await response.text();
  await verifySignatureWithJwks(keys, headers['saleor-signature'], body.toString());
}
// --8<-- [end:app-sdk]

import { readFile } from 'node:fs/promises';

const verifiers = {
  jws: verifyWithKeySet,
  hmac: verifyWithSecret,
  standard: verifyStandardWebhook,
  'app-sdk': verifyWithAppSdk,
};
const verdicts = [];
for (const { scheme, body, headers, secret } of JSON.parse(await readFile(requestsFile))) {
  try {
    await verifiers[scheme](Buffer.from(body), headers, secret);
    verdicts.push('accepted');
  } catch (error) {
    verdicts.push(`refused: ${error.message}`);
  }
}
console.log(JSON.stringify(verdicts));
