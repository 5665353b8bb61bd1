// --8<-- [start:page]
import { currentUser } from '../lib/current-user.js';
import { signIn, signOut } from './actions.js';

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
