'use server';

import { cookies, headers } from 'next/headers';

import { ACCESS, cookieFor, query, REFRESH } from '../lib/shop';

const SIGN_IN = `mutation SignIn($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) {
    token refreshToken errors { field message code }
  }
}`;

export async function signIn(formData: FormData) {
  const { email, password } = Object.fromEntries(formData);
  // The shop limits sign-ins by the customer's IP address, not this server's.
  const address = (await headers()).get('x-forwarded-for');
  const forwarded: Record<string, string> = address ? { 'X-Forwarded-For': address } : {};
  const { data } = await query(SIGN_IN, { email, password }, forwarded);
  const { token, refreshToken, errors } = data.tokenCreate;
  if (errors.length > 0) return errors;
  const store = await cookies();
  store.set(cookieFor(ACCESS, token));
  store.set(cookieFor(REFRESH, refreshToken));
  return [];
}

const END_SESSION = `mutation EndSession($id: ID!) {
  sessionEnd(id: $id) { errors { code } }
}`;

export async function signOut() {
  const store = await cookies();
  const credential = { Authorization: `Bearer ${store.get(ACCESS)?.value}` };
  const { data } = await query(
    '{ me { sessions { id current } } }',
    {},
    credential,
  );
  const session = data?.me?.sessions.find((one: { current: boolean }) => one.current);
  if (session) await query(END_SESSION, { id: session.id }, credential);
  store.delete(ACCESS);
  store.delete(REFRESH);
}
