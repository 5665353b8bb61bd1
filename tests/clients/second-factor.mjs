// Signs in to an account with a second factor: a password first, then a code or passkey.

// --8<-- [start:sign-in]
import { request } from './fetch.mjs';

const SIGN_IN = `mutation SignIn($email: String!, $password: String!) {
  tokenCreate(email: $email, password: $password) {
    token refreshToken errors { field message code }
    secondFactorChallenge { challenge expiresAt types }
  }
}`;
const VERIFY = `mutation Verify($challenge: String!, $code: String!) {
  secondFactorVerify(challenge: $challenge, code: $code) {
    token refreshToken errors { field message code }
  }
}`;

// `askForCode` shows a form for the code, with the error of the code before.
export async function signIn(email, password, askForCode) {
  const { data } = await request(SIGN_IN, { email, password });
  let answer = data.tokenCreate;
  const { challenge, types } = answer.secondFactorChallenge ?? {};
  while (challenge && !answer.token) {
    const [error] = answer.errors;
    if (error.field === 'challenge') break; // expired, or five incorrect codes: begin again
    const code = await askForCode(types, error);
    answer = (await request(VERIFY, { challenge, code })).data.secondFactorVerify;
  }
  return answer; // `token` and `refreshToken`, or `errors`
}
// --8<-- [end:sign-in]

// --8<-- [start:passkey]
const OPTIONS = `mutation Options($challenge: String) {
  passkeyChallengeCreate(challenge: $challenge) {
    challenge options errors { field message code }
  }
}`;
const USE = `mutation Use($challenge: String!, $credential: JSONString!) {
  passkeyVerify(challenge: $challenge, credential: $credential) {
    token refreshToken errors { field message code }
  }
}`;

// With the challenge of `tokenCreate`, or without one to sign in with a passkey alone.
export async function signInWithPasskey(challengeOfSignIn = null) {
  const asked = (await request(OPTIONS, { challenge: challengeOfSignIn })).data
    .passkeyChallengeCreate;
  if (asked.errors.length) return asked;
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(JSON.parse(asked.options));
  const credential = await navigator.credentials.get({ publicKey });
  const { data } = await request(USE, {
    challenge: asked.challenge,
    credential: JSON.stringify(credential),
  });
  return data.passkeyVerify;
}
// --8<-- [end:passkey]

// --8<-- [start:prove]
const ASK = `mutation {
  secondFactorChallengeCreate {
    secondFactorChallenge { challenge expiresAt types } errors { field message code }
  }
}`;

// For a session that began without a second factor, such as one of SSO.
export async function prove(token, code) {
  const asked = (await request(ASK, {}, token)).data.secondFactorChallengeCreate;
  if (asked.errors.length) return asked;
  const { challenge } = asked.secondFactorChallenge;
  const { data } = await request(VERIFY, { challenge, code }, token);
  return data.secondFactorVerify;
}
// --8<-- [end:prove]
