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
# "Headers" below and run it (Ctrl-Enter).
# Access tokens expire after minutes;
# paste a new one then.

{
  shop {
    name
  }
}
`;

ReactDOM.createRoot(place).render(
  React.createElement(GraphiQL, {
    fetcher: send,
    defaultQuery: welcome,
    defaultHeaders: JSON.stringify({ Authorization: "Bearer " }, null, 2),
    defaultEditorToolsVisibility: "headers",
    shouldPersistHeaders: false,
  }),
);
