// --8<-- [start:page]
import { serverAuth } from '../../lib/auth.js';
import { SignInForm } from '../form.js';

async function signIn(formData) {
  'use server';
  const { email, password } = Object.fromEntries(formData);
  await (await serverAuth()).signIn({ email, password });
}

async function signOut() {
  'use server';
  (await serverAuth()).signOut();
}

async function currentUser() {
  const auth = await serverAuth();
  const response = await auth.fetchWithAuth(process.env.API_URL, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: '{ me { email } }' }),
    cache: 'no-store',
  });
  return (await response.json()).data.me;
}

export default async function Page() {
  const user = await currentUser();
  return <SignInForm user={user} signIn={signIn} signOut={signOut} />;
}
// --8<-- [end:page]
