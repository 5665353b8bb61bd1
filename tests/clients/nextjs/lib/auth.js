// --8<-- [start:auth]
import { createSaleorAuthClient } from '@saleor/auth-sdk';
import { getNextServerCookiesStorageAsync } from '@saleor/auth-sdk/next/server';

const saleorApiUrl = process.env.API_URL;

export async function serverAuth() {
  const secure = process.env.NODE_ENV === 'production';
  const storage = await getNextServerCookiesStorageAsync({ secure });
  return createSaleorAuthClient({
    saleorApiUrl,
    refreshTokenStorage: storage,
    accessTokenStorage: storage,
  });
}
// --8<-- [end:auth]
