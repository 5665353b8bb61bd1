// --8<-- [start:page]
import { currentUser } from '../lib/current-user.js';
import { signIn, signOut } from './actions.js';
import { SignInForm } from './form.js';

export default async function Page() {
  const user = await currentUser();
  return <SignInForm user={user} signIn={signIn} signOut={signOut} />;
}
// --8<-- [end:page]
