// --8<-- [start:page]
import { serverAuth } from '../../lib/auth.js';

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
  if (user) {
    return (
      <form action={signOut}>
        <p>Signed in as {user.email}</p>
        <button>Sign out</button>
      </form>
    );
  }
  return (
    <form action={signIn}>
      <input name="email" type="email" />
      <input name="password" type="password" />
      <button>Sign in</button>
    </form>
  );
}
// --8<-- [end:page]
