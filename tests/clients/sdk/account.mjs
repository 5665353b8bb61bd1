// A storefront built with @saleor/sdk.

// --8<-- [start:client]
import { createSaleorClient } from '@saleor/sdk';

const apiUrl = process.env.API_URL; // such as https://shop.example.com/graphql/

// With a refresh token in localStorage it signs in by itself.
export const createClient = (opts) =>
  createSaleorClient({ apiUrl, channel: 'default-channel', opts });
// --8<-- [end:client]

// --8<-- [start:sign-in]
export async function signIn(saleor, email, password) {
  const { data } = await saleor.auth.login({ email, password });
  return data.tokenCreate.errors; // empty after a success
}
// --8<-- [end:sign-in]

// --8<-- [start:account]
export async function addAddress(saleor, address) {
  const { data } = await saleor.user.createAccountAddress({ input: address });
  const { id } = data.accountAddressCreate.address;
  await saleor.user.setAccountDefaultAddress({ id, type: 'SHIPPING' });
}

export async function rename(saleor, firstName) {
  const { data } = await saleor.user.updateAccount({ input: { firstName } });
  return data.accountUpdate.user;
}
// --8<-- [end:account]

// --8<-- [start:sign-out]
export async function signOut(saleor) {
  await saleor.auth.logout(); // removes the tokens from this browser
}
// --8<-- [end:sign-out]
