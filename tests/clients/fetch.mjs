// A storefront's session without any library: the Fetch API is all it needs.

// --8<-- [start:request]
const apiUrl = process.env.API_URL; // such as https://shop.example.com/graphql/

export async function request(query, variables = {}, token = null) {
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
// --8<-- [end:request]

// --8<-- [start:session]
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
  token = null;
  refreshToken = null;
  refreshing = null;

  async signIn(email, password) {
    const { data } = await request(SIGN_IN, { email, password });
    const { token, refreshToken, errors } = data.tokenCreate;
    Object.assign(this, { token, refreshToken });
    return errors; // empty after a success
  }

  async query(query, variables) {
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

function isExpired({ errors = [] }) {
  const codes = errors.map((error) => error.extensions?.exception?.code);
  return codes.includes('ExpiredSignatureError');
}
// --8<-- [end:session]

// --8<-- [start:sign-out]
const SESSIONS = '{ me { sessions { id current } } }';
const END_SESSION = `mutation EndSession($id: ID!) {
  sessionEnd(id: $id) { errors { field message code } }
}`;

export async function signOut(session) {
  const { data } = await session.query(SESSIONS);
  const current = data.me?.sessions.find((one) => one.current);
  if (current) await session.query(END_SESSION, { id: current.id });
  Object.assign(session, { token: null, refreshToken: null });
}
// --8<-- [end:sign-out]
