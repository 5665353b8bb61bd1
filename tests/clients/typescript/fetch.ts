const apiUrl = process.env.API_URL!; // such as https://shop.example.com/graphql/

type Answer = {
  data: any;
  errors?: { message: string; extensions?: { code?: string; exception?: { code?: string } } }[];
};
type Problem = { field: string | null; message: string | null; code: string };

export async function request(
  query: string,
  variables: Record<string, unknown> = {},
  token: string | null = null,
): Promise<Answer> {
  const response = await fetch(apiUrl, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      ...(token && { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({ query, variables }),
  });
  const answer = await response.json();
  const code = answer.errors?.[0]?.extensions?.code;
  if (code === 'STOREFRONT_TRAFFIC_NOT_ALLOWED') {
    throw new Error('The storefront is closed.');
  }
  return answer;
}

const SIGN_IN = `mutation SignIn($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) {
    token refreshToken errors { field message code }
  }
}`;
const REFRESH = `mutation Refresh($refreshToken: String!) {
  tokenRefresh(refreshToken: $refreshToken) {
    token refreshToken errors { field message code }
  }
}`;

export class Session {
  token: string | null = null;
  refreshToken: string | null = null;
  refreshing: Promise<void> | null = null;

  async signIn(email: string, password: string): Promise<Problem[]> {
    const { data } = await request(SIGN_IN, { email, password });
    const { token, refreshToken, errors } = data.tokenCreate;
    Object.assign(this, { token, refreshToken });
    return errors; // empty after a success
  }

  async query(query: string, variables?: Record<string, unknown>) {
    const { token } = this;
    const answer = await request(query, variables, token);
    if (!isExpired(answer)) return answer;
    // Unless another query has done so meanwhile:
    if (this.token === token) await this.refresh();
    return request(query, variables, this.token);
  }

  // One refresh at a time, however many queries find the token expired.
  refresh() {
    this.refreshing ??= this.replaceToken().finally(
      () => (this.refreshing = null),
    );
    return this.refreshing;
  }

  async replaceToken() {
    const { data } = await request(REFRESH, {
      refreshToken: this.refreshToken,
    });
    const { token, refreshToken, errors } = data.tokenRefresh;
    this.token = token;
    // There is a new refresh token if the shop's are single use.
    if (refreshToken) this.refreshToken = refreshToken;
    if (errors.length > 0) this.refreshToken = null; // the session ended
  }
}

function isExpired({ errors = [] }: Answer) {
  const codes = errors.map((error) => error.extensions?.exception?.code);
  return codes.includes('ExpiredSignatureError');
}

const SESSIONS = '{ me { sessions { id current } } }';
const END_SESSION = `mutation EndSession($id: ID!) {
  sessionEnd(id: $id) { errors { field message code } }
}`;

export async function signOut(session: Session) {
  const { data } = await session.query(SESSIONS);
  const current = data.me?.sessions.find((one: { current: boolean }) => one.current);
  if (current) await session.query(END_SESSION, { id: current.id });
  Object.assign(session, { token: null, refreshToken: null });
}
