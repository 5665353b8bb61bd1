import { request } from './fetch';

const REGISTER = `mutation Register($input: AccountRegisterInput!) {
  accountRegister(input: $input) {
    requiresConfirmation errors { field message code }
  }
}`;

export async function register(email: string, password: string) {
  const redirectUrl = 'http://localhost:3000/confirm';
  const { data } = await request(REGISTER, {
    input: { email, password, redirectUrl },
  });
  return data.accountRegister;
}

const CONFIRM = `mutation Confirm($email: String!, $token: String!) {
  confirmAccount(email: $email, token: $token) {
    errors { field message code }
  }
}`;

// The customer came to http://localhost:3000/confirm?email=…&token=…
export async function confirm(pageUrl: string) {
  const { email, token } = Object.fromEntries(new URL(pageUrl).searchParams);
  const { data } = await request(CONFIRM, { email, token });
  return data.confirmAccount.errors;
}

const FORGOTTEN = `mutation Forgotten($email: String!, $redirectUrl: String!) {
  requestPasswordReset(email: $email, redirectUrl: $redirectUrl) {
    errors { field message code }
  }
}`;

export async function requestPasswordReset(email: string) {
  const redirectUrl = 'http://localhost:3000/reset';
  const { data } = await request(FORGOTTEN, { email, redirectUrl });
  return data.requestPasswordReset.errors;
}

const RESET = `
mutation Reset($email: String!, $token: String!, $password: String!) {
  setPassword(email: $email, token: $token, password: $password) {
    token refreshToken errors { field message code }
  }
}`;

// The customer came to http://localhost:3000/reset?email=…&token=…
export async function resetPassword(pageUrl: string, password: string) {
  const { email, token } = Object.fromEntries(new URL(pageUrl).searchParams);
  const { data } = await request(RESET, { email, token, password });
  return data.setPassword; // with tokens, unless there are errors
}
