// --8<-- [start:user]
import { cookies } from 'next/headers';

import { ACCESS, query } from './shop.js';

export async function currentUser() {
  const token = (await cookies()).get(ACCESS)?.value;
  const credential = token ? { Authorization: `Bearer ${token}` } : {};
  const { data } = await query('{ me { email firstName } }', {}, credential);
  return data?.me ?? null;
}
// --8<-- [end:user]
