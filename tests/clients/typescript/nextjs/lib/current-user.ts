import { cookies } from 'next/headers';

import { ACCESS, query } from './shop';

export async function currentUser() {
  const token = (await cookies()).get(ACCESS)?.value;
  const credential: Record<string, string> = token ? { Authorization: `Bearer ${token}` } : {};
  const { data } = await query('{ me { email firstName } }', {}, credential);
  return data?.me ?? null;
}
