// Registration and forgotten passwords: the emailed links lead to pages of the storefront.

// --8<-- [start:register]
import { request } from './fetch.mjs';

const REGISTER = `mutation Register($input: AccountRegisterInput!) {
  accountRegister(input: $input) {
    requiresConfirmation errors { field message code }
  }
}`;

export async function register(email, password) {
  const redirectUrl = 'http://localhost:3000/confirm';
  const { data } = await request(REGISTER, {
    input: { email, password, redirectUrl },
  });
  return data.accountRegister;
}
// --8<-- [end:register]

// --8<-- [start:confirm]
const CONFIRM = `mutation Confirm($email: String!, $token: String!) {
  confirmAccount(email: $email, token: $token) {
    errors { field message code }
  }
}`;

// The customer came to http://localhost:3000/confirm?email=…&token=…
export async function confirm(pageUrl) {
  const { email, token } = Object.fromEntries(new URL(pageUrl).searchParams);
  const { data } = await request(CONFIRM, { email, token });
  return data.confirmAccount.errors;
}
// --8<-- [end:confirm]

// --8<-- [start:forgotten]
const FORGOTTEN = `mutation Forgotten($email: String!, $redirectUrl: String!) {
  requestPasswordReset(email: $email, redirectUrl: $redirectUrl) {
    errors { field message code }
  }
}`;

export async function requestPasswordReset(email) {
  const redirectUrl = 'http://localhost:3000/reset';
  const { data } = await request(FORGOTTEN, { email, redirectUrl });
  return data.requestPasswordReset.errors;
}
// --8<-- [end:forgotten]

// --8<-- [start:reset]
const RESET = `
mutation Reset($email: String!, $token: String!, $password: String!) {
  setPassword(email: $email, token: $token, password: $password) {
    token refreshToken errors { field message code }
  }
}`;

// The customer came to http://localhost:3000/reset?email=…&token=…
export async function resetPassword(pageUrl, password) {
  const { email, token } = Object.fromEntries(new URL(pageUrl).searchParams);
  const { data } = await request(RESET, { email, token, password });
  return data.setPassword; // with tokens, unless there are errors
}
// --8<-- [end:reset]
