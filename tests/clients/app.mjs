// An app built with @saleor/app-sdk. A test starts it on a free port and ends its standard input.

// --8<-- [start:setup]
import { FileAPL } from '@saleor/app-sdk/APL/file';
import {
  createAppRegisterHandler,
  createManifestHandler,
  createProtectedHandler,
  SaleorAsyncWebhook,
} from '@saleor/app-sdk/handlers/fetch-api';

// Keeps the token of each shop. A file is enough for one server; the SDK has stores for more.
const apl = new FileAPL({ fileName: process.argv[2] ?? 'tokens.json' });
// --8<-- [end:setup]

// --8<-- [start:webhook]
const productCreated = new SaleorAsyncWebhook({
  name: 'Product created',
  webhookPath: 'api/webhooks/product-created',
  event: 'PRODUCT_CREATED',
  query: 'subscription { event { ... on ProductCreated { product { id name } } } }',
  isActive: true,
  apl,
});

const received = []; // what the app does its work with

// The handler runs only for requests that the shop signed.
const onProductCreated = productCreated.createHandler((request, { payload, event }) => {
  received.push({ payload, event, headers: request.headers });
  return new Response('OK');
});
// --8<-- [end:webhook]

// --8<-- [start:manifest]
const manifest = createManifestHandler({
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
});

// Takes the token in the handshake, checks it with the shop, and stores it.
const register = createAppRegisterHandler({ apl });
// --8<-- [end:manifest]

// --8<-- [start:protected]
// For the app's pages in the dashboard: runs only with a valid extension token whose person and app
// both have the permission.
const currentUser = createProtectedHandler(
  (_request, { user }) => Response.json(user),
  apl,
  ['MANAGE_PRODUCTS'],
);
// --8<-- [end:protected]

// --8<-- [start:server]
import { createServer } from 'node:http';

const routes = {
  '/api/manifest': manifest,
  '/api/register': register,
  '/api/protected': currentUser,
  '/api/webhooks/product-created': onProductCreated,
};

// The handlers take a Request and return a Response. Next.js has its own set of handlers.
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
const port = process.env.PORT ?? 3000;
server.listen(port, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
// --8<-- [end:server]

// For the tests alone: what the webhook got, and an end.
routes['/_test/received'] = () =>
  Response.json(received.map((one) => ({ ...one, headers: Object.fromEntries(one.headers) })));
process.stdin.resume().on('end', () => process.exit());
