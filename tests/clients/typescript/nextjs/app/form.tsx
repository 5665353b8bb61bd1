type Props = {
  user: { email: string } | null;
  signIn: (data: FormData) => Promise<unknown>;
  signOut: () => Promise<void>;
};

export function SignInForm({ user, signIn, signOut }: Props) {
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
