// An app built with @saleor/app-sdk on a free port, until its standard input ends; prints its URL.
//
// The file for its tokens is its argument. Requests to its webhook are listed under /_test/received.

import { createServer } from 'node:http';

import { FileAPL } from '@saleor/app-sdk/APL/file';
import {
  createAppRegisterHandler,
  createManifestHandler,
  createProtectedHandler,
  SaleorAsyncWebhook,
} from '@saleor/app-sdk/handlers/fetch-api';

const apl = new FileAPL({ fileName: process.argv[2] });
const received = [];
const QUERY = 'subscription { event { ... on ProductCreated { product { id name } } } }';

const productCreated = new SaleorAsyncWebhook({
  name: 'Product created',
  webhookPath: 'api/webhooks/product-created',
  event: 'PRODUCT_CREATED',
  query: QUERY,
  isActive: true,
  apl,
});

const routes = {
  '/api/manifest': createManifestHandler({
    manifestFactory: ({ appBaseUrl, schemaVersion }) => ({
      id: 'example.app',
      name: 'Example',
      version: '1.0.0',
      about: `For version ${schemaVersion.join('.')}`,
      permissions: ['MANAGE_PRODUCTS'],
      appUrl: appBaseUrl,
      tokenTargetUrl: `${appBaseUrl}/api/register`,
      requiredSaleorVersion: '^3.20',
      extensions: [],
      webhooks: [productCreated.getWebhookManifest(appBaseUrl)],
    }),
  }),
  '/api/register': createAppRegisterHandler({ apl }),
  '/api/protected': createProtectedHandler(
    (_request, { user }) => Response.json(user),
    apl,
    ['MANAGE_PRODUCTS'],
  ),
  '/api/webhooks/product-created': productCreated.createHandler((_request, context) => {
    received.push({ payload: context.payload, event: context.event, headers: _request.headers });
    return new Response('OK');
  }),
  '/_test/received': () =>
    Response.json(received.map((one) => ({ ...one, headers: Object.fromEntries(one.headers) }))),
};

const server = createServer(async (incoming, outgoing) => {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const address = new URL(incoming.url, `http://${incoming.headers.host}`);
  const request = new Request(address, {
    method: incoming.method,
    headers: incoming.headers,
    body: chunks.length > 0 ? Buffer.concat(chunks) : undefined,
  });
  const route = routes[address.pathname];
  const response = route ? await route(request) : new Response('Not found', { status: 404 });
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.end(Buffer.from(await response.arrayBuffer()));
});

server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on('end', () => process.exit());
