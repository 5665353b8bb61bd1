"use strict";
// The plain playground: one form, one answer. Serves where GraphiQL was not installed.

const form = document.getElementById("request");
const status = document.getElementById("status");
const answer = document.getElementById("answer");

function field(name) {
  return document.getElementById(name);
}

function object(name, told) {
  const text = field(name).value.trim();
  if (text === "") return {};
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    field(name).focus();
    throw new Error(`${told} are not valid JSON: ${error.message}`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    field(name).focus();
    throw new Error(`${told} must be a JSON object.`);
  }
  return value;
}

async function run() {
  answer.textContent = "";
  try {
    const variables = object("variables", "The variables");
    const headers = object("headers", "The headers");
    status.textContent = "Waiting for the answer …";
    const response = await fetch(form.dataset.endpoint, {
      method: "POST",
      credentials: "omit",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify({ query: field("document").value, variables }),
    });
    const text = await response.text();
    status.textContent = `${response.status} ${response.statusText}`.trim();
    try {
      answer.textContent = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      answer.textContent = text;
    }
  } catch (error) {
    status.textContent = `Nothing was sent. ${error.message}`;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  run();
});
form.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit();
  }
});
