// What client libraries expect of a browser, and what the checks want to know of their requests.

const kept = new Map();

export const localStorage = {
  getItem: (name) => kept.get(name) ?? null,
  setItem: (name, value) => kept.set(name, value),
  removeItem: (name) => kept.delete(name),
};

export function becomeBrowser() {
  globalThis.localStorage = localStorage;
  globalThis.window = Object.assign(new EventTarget(), { localStorage });
}

export const storedTokens = () => [...kept.values()].filter((value) => value.startsWith('ey'));

// The requests of fetch from now on: method, URL, and body if it is text.
export function recordRequests() {
  const sent = [];
  const { fetch } = globalThis;
  globalThis.fetch = (url, options = {}) => {
    sent.push({ method: options.method, url: String(url), body: options.body });
    return fetch(url, options);
  };
  return sent;
}

export const claims = (token) => JSON.parse(Buffer.from(token.split('.')[1], 'base64url'));

// Wait for the end of the token's own life, whatever the shop's setting.
export async function expiry(token) {
  const left = claims(token).exp * 1000 - Date.now();
  await new Promise((resolve) => setTimeout(resolve, left + 50));
}

export async function until(isTrue, patience = 30_000) {
  const deadline = Date.now() + patience;
  while (!isTrue() && Date.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
