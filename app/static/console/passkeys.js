// Passkeys: a form with data-passkey ("create" or "get") is sent with what the browser's passkey answers.
// Its options (JSON) are in data-options, or come from data-options-url, with a new challenge. The
// fields challenge and credential get the answer; data-prefix is before their names. With
// data-autofill the browser also offers passkeys in the field with autocomplete="… webauthn".
"use strict";

{
  const RENEW = 4 * 60 * 1000; // a challenge can be answered for five minutes

  let waiting = new AbortController();
  let isAsking = false;
  let isSent = false;

  const decoded = (text) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));

  const encoded = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer)))
      .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

  const listed = (known) => known?.map((passkey) => ({ ...passkey, id: decoded(passkey.id) }));

  function parsed(options) {
    const { user, challenge, allowCredentials, excludeCredentials } = options;
    return {
      ...options,
      challenge: decoded(challenge),
      ...(user && { user: { ...user, id: decoded(user.id) } }),
      ...(allowCredentials && { allowCredentials: listed(allowCredentials) }),
      ...(excludeCredentials && { excludeCredentials: listed(excludeCredentials) }),
    };
  }

  function written(credential) {
    const { response } = credential;
    const parts = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (response[name]) parts[name] = encoded(response[name]);
    }
    if (response.getTransports) parts.transports = response.getTransports();
    const id = encoded(credential.rawId);
    return JSON.stringify({ id, rawId: id, type: credential.type, clientExtensionResults: {}, response: parts });
  }

  const placeOf = (form) => form.querySelector("[data-passkey-error]");

  function say(form, message) {
    placeOf(form).textContent = message;
    placeOf(form).hidden = !message;
  }

  // Its name is that of a sentence in the page's language: data-unreachable is dataset.unreachable.
  function fault(name, message = "") {
    return Object.assign(new Error(message), { name });
  }

  function sentenceOf(form, error) {
    const sentences = placeOf(form).dataset;
    const name = error.name[0].toLowerCase() + error.name.slice(1);
    return name === "told" ? error.message : sentences[name] || sentences.unanswered;
  }

  async function asked(form) {
    const { options, optionsUrl } = form.dataset;
    if (options) return { options: JSON.parse(options) };
    let answer;
    let sent;
    try {
      answer = await fetch(optionsUrl, {
        method: "POST",
        body: new URLSearchParams(new FormData(form)),
        headers: { "X-Requested-With": "fetch" },
        credentials: "same-origin",
      });
      sent = await answer.json();
    } catch {
      throw fault(answer?.status === 429 ? "tooMany" : "unreachable");
    }
    if (!sent.options) throw sent.error ? fault("told", sent.error) : fault("unreachable");
    return { challenge: sent.challenge, options: JSON.parse(sent.options) };
  }

  async function answer(form, more = {}) {
    waiting.abort();
    const own = new AbortController();
    waiting = own;
    const { challenge, options } = await asked(form);
    if (own.signal.aborted) return;
    const request = { publicKey: parsed(options), signal: own.signal, ...more };
    const making = form.dataset.passkey === "create";
    const credential = await (making ? navigator.credentials.create(request) : navigator.credentials.get(request));
    if (!credential || own.signal.aborted) return;
    const prefix = form.dataset.prefix || "";
    if (challenge) form.elements[`${prefix}challenge`].value = challenge;
    form.elements[`${prefix}credential`].value = written(credential);
    isSent = true;
    form.submit();
  }

  const autofilled = document.querySelector("form[data-passkey][data-autofill]");
  let canOffer = false;

  async function offer() {
    if (!canOffer || isAsking || isSent || document.hidden) return;
    try {
      await answer(autofilled, { mediation: "conditional" });
    } catch {
      // It wasn't asked for, so there is nothing to say; the button tells what is wrong.
    }
  }

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (isAsking || isSent || !form.reportValidity()) return;
      isAsking = true;
      say(form, "");
      try {
        await answer(form);
      } catch (error) {
        say(form, sentenceOf(form, error));
      } finally {
        isAsking = false;
        offer();
      }
    });
  }

  if (autofilled && window.PublicKeyCredential?.isConditionalMediationAvailable) {
    PublicKeyCredential.isConditionalMediationAvailable().then((isAvailable) => {
      canOffer = isAvailable;
      offer();
      setInterval(offer, RENEW);
      document.addEventListener("visibilitychange", offer);
    });
  }
}
