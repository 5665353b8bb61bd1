"use strict";
// Starts GraphiQL, which `make playground` has copied beside this file.

const place = document.getElementById("editor");

async function send(operation, { headers = {} } = {}) {
  const response = await fetch(place.dataset.endpoint, {
    method: "POST",
    credentials: "omit",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(operation),
  });
  return response.json();
}

const welcome = `# Write a query, add your token under
# HTTP HEADERS below and run it (Ctrl-Enter).
# Access tokens expire after minutes;
# paste a new one then.

{
  shop {
    name
  }
}
`;

// GraphiQL has no setting for the name of the pane: it is what Saleor's guides call it.
const PANE = "HTTP HEADERS";

function namePane() {
  const tab = place.querySelector('button[data-name="headers"]');
  if (tab && tab.textContent !== PANE) tab.textContent = PANE;
  const pane = place.querySelector('section[aria-label="Headers"]');
  if (pane) pane.setAttribute("aria-label", PANE);
}

new MutationObserver(namePane).observe(place, {
  attributeFilter: ["aria-label"],
  childList: true,
  subtree: true,
});

ReactDOM.createRoot(place).render(
  React.createElement(GraphiQL, {
    fetcher: send,
    defaultQuery: welcome,
    defaultHeaders: JSON.stringify({ Authorization: "Bearer " }, null, 2),
    defaultEditorToolsVisibility: "headers",
    shouldPersistHeaders: false,
  }),
);
