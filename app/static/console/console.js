// Makes pages quicker; each works without it. No page depends on what stands here.
"use strict";

const toasts = document.getElementById("toasts");

function toast(message) {
  if (!toasts) return;
  const shown = document.createElement("div");
  shown.className = "lk-flash is-ok";
  const words = document.createElement("div");
  words.textContent = message;
  shown.append(words);
  toasts.append(shown);
  setTimeout(() => shown.remove(), 4000);
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(document.body.dataset.copied);
  } catch {
    toast(document.body.dataset.notCopied);
  }
}

// A page fetched for what is inside it: the element that `selector` names, or null.
async function part(address, selector, options = {}) {
  const answer = await fetch(address, {
    ...options,
    headers: { ...options.headers, "X-Requested-With": "fetch" },
    credentials: "same-origin",
  });
  const sent = new DOMParser().parseFromString(await answer.text(), "text/html");
  return { answer, element: sent.querySelector(selector) };
}

function show(dialog) {
  dialog.removeAttribute("open");
  document.body.append(dialog);
  dialog.showModal();
  dialog.addEventListener("close", () => dialog.remove());
  return dialog;
}

function wrap(element, title) {
  const dialog = document.createElement("dialog");
  dialog.className = "lk-dialog";
  dialog.setAttribute("aria-label", title);
  const close = document.createElement("form");
  close.method = "dialog";
  const footer = document.createElement("footer");
  const button = document.createElement("button");
  button.className = "btn btn-secondary";
  button.textContent = document.body.dataset.close;
  footer.append(button);
  close.append(element, footer);
  dialog.append(close);
  return dialog;
}

// ---- dialogs: links and forms whose page the server sends with a dialog open ------------------
async function openDialog(address, options, selector) {
  const { answer, element } = await part(address, selector || "dialog.lk-dialog", options);
  if (answer.redirected || !element) return false;
  element.removeAttribute("id");
  show(element.tagName === "DIALOG" ? element : wrap(element, document.body.dataset.shortcuts));
  return true;
}

document.addEventListener("click", async (event) => {
  const link = event.target.closest("a[data-dialog]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const selector = link.dataset.dialog ? `#${link.dataset.dialog}` : "";
  if (!(await openDialog(link.href, {}, selector))) location.href = link.href;
});

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-dialog]");
  if (!form) return;
  event.preventDefault();
  const values = new FormData(form, event.submitter);
  const get = form.method.toLowerCase() === "get";
  const address = get ? `${form.action}?${new URLSearchParams(values)}` : form.action;
  const options = get ? {} : { method: "POST", body: new URLSearchParams(values) };
  if (await openDialog(address, options)) return;
  form.removeAttribute("data-dialog");
  form.requestSubmit(event.submitter);
});

document.addEventListener("click", (event) => {
  const dismiss = event.target.closest("dialog a[data-dismiss]");
  const dialog = dismiss?.closest("dialog");
  if (!dialog?.matches(":modal")) return;
  event.preventDefault();
  dialog.close();
});

// ---- copying ------------------------------------------------------------------------------------
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy], [data-copy-text]");
  if (!button) return;
  const source = button.dataset.copy && document.getElementById(button.dataset.copy);
  const text = source ? (source.value ?? source.textContent) : button.dataset.copyText;
  copy(text);
});

// ---- forms: nobody loses by accident what they have typed ------------------------------------
const written = (form) => {
  const values = new FormData(form);
  for (const field of form.elements) if (field.matches("[data-unsaved]")) values.delete(field.name);
  return new URLSearchParams(values).toString();
};
for (const form of document.querySelectorAll("form[data-guard]")) {
  const before = written(form);
  let leaving = false;
  form.addEventListener("submit", () => { leaving = true; });
  addEventListener("beforeunload", (event) => {
    if (!leaving && written(form) !== before) event.preventDefault();
  });
}

// ---- forms: what was typed is there again after the session ended and a new one began ----------
// It waits in this tab, for the same account, from sending the form to the page after signing in.
const DRAFT = "latchkey-draft";
const isKept = (field) =>
  field.name && !field.matches("button, [type=password], [type=hidden], [type=file], [data-private]");

for (const form of document.querySelectorAll("form[data-guard]")) {
  form.addEventListener("submit", () => {
    const values = new FormData(form);
    const kept = [...form.elements].filter(isKept).map((field) => [field.name, values.getAll(field.name)]);
    const { account } = document.body.dataset;
    const draft = { account, path: location.pathname, action: form.action, values: Object.fromEntries(kept) };
    draft.secrets = [...form.elements].filter(isSecret).map((field) => `${field.name}_kept`);
    sessionStorage.setItem(DRAFT, JSON.stringify(draft));
  });
}

// Of a secret we keep that there was one: the server refuses the form until it is entered again.
function isSecret(field) {
  const entered = field.form.elements[`${field.name}_kept`];
  return entered && (entered.value || field.value !== field.defaultValue);
}

function fillIn(form, { values, secrets }) {
  for (const name of secrets ?? []) form.elements[name]?.setAttribute("value", "lost");
  for (const field of [...form.elements].filter((one) => isKept(one) && one.name in values)) {
    const sent = values[field.name];
    if (field.matches("[type=checkbox], [type=radio]")) field.checked = sent.includes(field.value);
    else if (field.multiple) for (const option of field.options) option.selected = sent.includes(option.value);
    else field.value = sent.shift() ?? "";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
  const note = document.createElement("div");
  note.className = "lk-flash is-ok";
  note.setAttribute("role", "status");
  note.textContent = document.body.dataset.restored;
  form.before(note);
}

function bringBackDraft() {
  const draft = JSON.parse(sessionStorage.getItem(DRAFT));
  if (!draft) return;
  const signedOut = draft.signedOut || document.querySelector("[data-signed-out]") !== null;
  if (signedOut && document.body.matches(".lk-door")) {
    sessionStorage.setItem(DRAFT, JSON.stringify({ ...draft, signedOut }));
    return;
  }
  sessionStorage.removeItem(DRAFT);
  if (!signedOut || draft.account !== document.body.dataset.account || draft.path !== location.pathname) return;
  const form = [...document.querySelectorAll("form[data-guard]")].find((one) => one.action === draft.action);
  if (form) fillIn(form, draft);
}
bringBackDraft();

// ---- forms are sent once; the server knows those that count or create something, too ---------
// If no page follows (a download, a stopped request), the form can be sent again after a while.
const RESENT_AFTER = 10_000;
// On the window, after the document's listeners: a form whose answer a script fetches isn't sent.
addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.getAttribute("method") !== "post") return;
  if (form.dataset.sent) event.preventDefault();
  else begin(form, event.submitter);
  setTimeout(() => end(form), RESENT_AFTER);
});
addEventListener("pageshow", () => document.querySelectorAll("form[data-sent]").forEach(end));

// Until its answer is there, the button that was pressed is busy, and a screen reader hears it.
function begin(form, button) {
  form.dataset.sent = "yes";
  button?.setAttribute("aria-busy", "true");
  if (!toasts) return;
  const status = document.createElement("div");
  status.className = "visually-hidden";
  status.dataset.working = "";
  status.textContent = document.body.dataset.working;
  toasts.append(status);
}

function end(form) {
  delete form.dataset.sent;
  for (const button of document.querySelectorAll("button[aria-busy]")) button.removeAttribute("aria-busy");
  for (const status of document.querySelectorAll("div[data-working]")) status.remove();
}

// ---- permissions: found as one types, counted as one ticks ------------------------------------
for (const block of document.querySelectorAll("[data-permissions]")) {
  const field = block.querySelector("input[type=search]");
  const areas = block.querySelectorAll("fieldset");
  const status = block.querySelector("[data-none]");
  const search = () => {
    const wanted = field.value.trim().toLowerCase();
    for (const area of areas) {
      const chips = [...area.querySelectorAll(".lk-chip")];
      for (const chip of chips) chip.hidden = !`${chip.textContent} ${chip.title}`.toLowerCase().includes(wanted);
      area.hidden = chips.every((chip) => chip.hidden);
    }
    status.textContent = [...areas].every((area) => area.hidden) ? status.dataset.none : "";
  };
  field.addEventListener("input", search);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
  block.addEventListener("change", (event) => {
    const area = event.target.closest("fieldset");
    const all = area?.querySelectorAll("input").length;
    const chosen = area?.querySelectorAll(":checked").length;
    if (all) {
      area.querySelector("small").textContent = document.body.dataset.chosenOf
        .replace("{chosen}", chosen)
        .replace("{all}", all);
    }
  });
}

// ---- lists: narrowed as one types and chooses, counted as one ticks -------------------------
// Everything of the page's main part but `kept` becomes what stands around `fresh`.
function renewAround(kept, fresh) {
  for (let old = kept, now = fresh; !old.matches("main"); old = old.parentElement, now = now.parentElement) {
    const around = [...now.parentElement.childNodes];
    const at = around.indexOf(now);
    for (const one of [...old.parentElement.childNodes]) if (one !== old) one.remove();
    old.before(...around.slice(0, at));
    old.after(...around.slice(at + 1));
  }
}

function narrowAsTyped(form, field) {
  let latest = 0;
  let waiting;
  const look = async () => {
    const turn = ++latest;
    const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value)).toString();
    const address = `${location.pathname}${asked && `?${asked}`}`;
    const { answer, element } = await part(address, "form[data-live]");
    if (turn !== latest || !answer.ok || !element) return;
    renewAround(form, element);
    history.replaceState(null, "", address);
  };
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 200);
  });
  form.addEventListener("submit", () => {
    clearTimeout(waiting);
    latest += 1;
  });
}

for (const form of document.querySelectorAll("form[data-live]")) {
  const field = form.querySelector("input[type=search]");
  if (field) narrowAsTyped(form, field);
}

// The menus of chips: closed by Escape and by a click elsewhere, long ones narrowed as one types.
const openChip = () => document.querySelector("details.lk-facet[open]");
document.addEventListener("click", ({ target }) => {
  const chip = openChip();
  if (chip && !chip.contains(target)) chip.open = false;
});
document.addEventListener("keydown", (event) => {
  const chip = event.key === "Escape" && openChip();
  if (!chip) return;
  chip.open = false;
  chip.querySelector("summary").focus();
});
document.addEventListener("input", ({ target }) => {
  if (!target.matches(".lk-facet input[data-narrows]")) return;
  const wanted = target.value.trim().toLowerCase();
  for (const link of target.parentElement.querySelectorAll("a")) {
    link.hidden = !link.textContent.toLowerCase().includes(wanted);
  }
});

// A click anywhere in a row opens it, as its link would; text that was selected stays so.
for (const kind of ["click", "auxclick"]) {
  document.addEventListener(kind, (event) => {
    const link = event.target.closest("table.is-dense tbody tr")?.querySelector("th a");
    if (!link || event.button > 1 || event.target.closest("a, button, input, label, summary")) return;
    if (!getSelection().isCollapsed) return;
    if (event.button || event.ctrlKey || event.metaKey) open(link.href, "_blank", "noopener");
    else link.click();
  });
}

// A row of tabs scrolls on a phone: the current one is in sight.
for (const row of document.querySelectorAll(".lk-tabs, .lk-index")) {
  const current = row.querySelector("[aria-current]");
  if (current && row.scrollWidth > row.clientWidth) {
    row.scrollLeft += current.getBoundingClientRect().left - row.getBoundingClientRect().left - 48;
  }
}

// The rows of a list by keyboard: the link of a row is what j and k move to.
const rowLinks = () => [...document.querySelectorAll("table.is-dense tbody th a")];
function moveInList(by) {
  const links = rowLinks();
  const at = links.findIndex((link) => link.closest("tr").contains(document.activeElement));
  const link = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by];
  link?.focus();
  link?.closest("tr").scrollIntoView({ block: "nearest" });
}
function selectRow() {
  const row = document.activeElement?.closest("table.is-dense tbody tr");
  row?.querySelector("input[type=checkbox]")?.click();
}

function countSelected(counter) {
  const selected = counter.closest("details, form").querySelectorAll(`[name="${counter.dataset.counts}"]:checked`);
  counter.textContent = document.body.dataset.selected.replace("{count}", selected.length);
}
document.addEventListener("change", (event) => {
  const counted = event.target.closest("details, form");
  if (event.target.matches("[data-selects]")) {
    const rows = counted.querySelectorAll(`[name="${event.target.dataset.selects}"]`);
    for (const row of rows) row.checked = event.target.checked;
  }
  for (const counter of counted?.querySelectorAll("[data-counts]") ?? []) countSelected(counter);
});
for (const counter of document.querySelectorAll("[data-counts]")) countSelected(counter);

// ---- editors: line numbers, and marks from the server as one types ----------------------------
function number(editor, marks = []) {
  const area = editor.querySelector("textarea");
  const list = editor.querySelector("ol");
  const bad = new Map(marks.map((mark) => [mark.line, mark.message]));
  const lines = Math.max(area.value.split("\n").length, 1);
  list.replaceChildren(...Array.from({ length: lines }, (_, index) => {
    const item = document.createElement("li");
    item.textContent = index + 1;
    if (bad.has(index + 1)) {
      item.className = "is-bad";
      item.title = bad.get(index + 1);
    }
    return item;
  }));
}

for (const editor of document.querySelectorAll(".lk-editor")) {
  const area = editor.querySelector("textarea");
  const result = document.getElementById(editor.dataset.result || "");
  let waiting;
  let latest = 0;
  const marked = [...editor.querySelectorAll("li.is-bad")];
  number(editor, marked.map((item) => ({ line: Number(item.textContent), message: "" })));
  area.addEventListener("input", () => {
    number(editor);
    if (!editor.dataset.check) return;
    clearTimeout(waiting);
    waiting = setTimeout(async () => {
      const turn = ++latest;
      const values = new URLSearchParams(new FormData(area.form));
      const answer = await fetch(editor.dataset.check, {
        method: "POST",
        body: values,
        headers: { "X-Requested-With": "fetch" },
      });
      if (!answer.ok || turn !== latest) return;
      const found = await answer.json();
      number(editor, found.marks);
      if (result) {
        result.textContent = found.message;
        result.className = found.marks.length ? "invalid-feedback" : "form-text";
      }
      const difference = area.form.querySelector("[data-difference]");
      if (difference) difference.textContent = found.difference;
    }, 300);
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) area.form.requestSubmit();
  });
}

// ---- choosing an event: its default query replaces another one's, an edited query stays ---------
for (const choice of document.querySelectorAll("select[data-queries]")) {
  const area = document.getElementById(choice.dataset.queries);
  const words = (query) => query.split(/\s+/).filter(Boolean).join(" ");
  const isDefault = (query) =>
    [...choice.options].some((option) => words(option.dataset.query) === words(query));
  choice.addEventListener("change", () => {
    const { query, ...shown } = choice.selectedOptions[0].dataset;
    for (const [name, value] of Object.entries(shown)) {
      choice.form.querySelector(`[data-shows="${name}"]`).textContent = value;
    }
    if (isDefault(area.value)) area.value = query;
    area.dispatchEvent(new Event("input"));
  });
}

// ---- events of a webhook: found as one types -----------------------------------------------------
for (const picker of document.querySelectorAll("[data-picker]")) {
  const opened = new Set([...picker.querySelectorAll("details[open]")]);
  picker.querySelector("input[type=search]").addEventListener("input", ({ target }) => {
    const wanted = target.value.trim().toLowerCase();
    for (const group of picker.querySelectorAll("details")) {
      const lines = [...group.querySelectorAll("label")];
      for (const line of lines) line.hidden = !`${line.textContent} ${line.title}`.toLowerCase().includes(wanted);
      group.hidden = lines.every((line) => line.hidden);
      group.open = wanted ? !group.hidden : opened.has(group) || group.querySelector(":checked") !== null;
    }
  });
  picker.querySelector("input[type=search]").addEventListener("keydown", (event) => {
    if (event.key === "Enter") event.preventDefault();
  });
}

// ---- the payload beside a webhook's form, as the form is -------------------------------------------
for (const form of document.querySelectorAll("form[data-preview]")) {
  let latest = 0;
  let waiting;
  const look = async (shown) => {
    const turn = ++latest;
    const values = new URLSearchParams(new FormData(form));
    for (const name of ["secret_key", "custom_headers"]) values.delete(name);
    if (shown) values.set("shown", shown);
    document.getElementById("live").setAttribute("aria-busy", "true");
    const { answer, element } = await part(form.dataset.preview, "#live", { method: "POST", body: values });
    if (turn === latest && answer.ok && element) document.getElementById("live").replaceWith(element);
  };
  form.addEventListener("change", ({ target }) => {
    if (target.name === "events") look(target.checked ? target.value : "");
    else if (["app", "shown"].includes(target.name)) look("");
  });
  form.addEventListener("input", ({ target }) => {
    if (target.name !== "query") return;
    clearTimeout(waiting);
    waiting = setTimeout(look, 400, "");
  });
  if (form.querySelector("[name=events]:checked") || form.elements.query.value) look("");
}

// ---- URLs that are made of what is entered: the names of fields in braces ------------------------
for (const shown of document.querySelectorAll("[data-pattern]")) {
  const form = shown.closest("form");
  const fill = () => {
    const made = shown.dataset.pattern.replace(/\{(\w+)\}/g, (_, name) => {
      const entered = form.elements[name]?.value.trim().replace(/\/+$/, "");
      return entered || form.elements[name]?.placeholder || "…";
    });
    if (shown.matches("input")) shown.value = made;
    else shown.textContent = made;
  };
  form.addEventListener("input", fill);
  fill();
}

// ---- an email beside its form, as the form is ------------------------------------------------------
for (const form of document.querySelectorAll("form[data-email]")) {
  let latest = 0;
  let waiting;
  const look = async () => {
    const turn = ++latest;
    const live = document.getElementById("live");
    live.setAttribute("aria-busy", "true");
    const asked = part(form.dataset.email, "#live", { method: "POST", body: new URLSearchParams(new FormData(form)) });
    const { element } = await asked.catch(() => ({}));
    if (turn !== latest) return;
    live.removeAttribute("aria-busy");
    if (element) live.replaceWith(element);
  };
  document.addEventListener("input", ({ target }) => {
    if (target.form !== form) return;
    clearTimeout(waiting);
    waiting = setTimeout(look, 500);
  });
}

// ---- panes whose result is shown without leaving the page --------------------------------------
document.addEventListener("submit", async (event) => {
  const form = event.target.closest("form[data-pane]");
  if (!form || event.submitter?.hasAttribute("formaction")) return;
  const pane = document.getElementById(form.dataset.pane);
  if (!pane) return;
  event.preventDefault();
  if (form.dataset.sent) return;
  begin(form, event.submitter);
  pane.setAttribute("aria-busy", "true");
  const values = new URLSearchParams(new FormData(form, event.submitter));
  const asked = part(form.action || location.href, `#${pane.id}`, { method: "POST", body: values });
  const { answer, element } = await asked.catch(() => ({}));
  end(form);
  if (!element || answer.redirected) {
    form.removeAttribute("data-pane");
    form.requestSubmit(event.submitter);
    return;
  }
  pane.replaceWith(element);
});

// ---- the palette: search and jump ----------------------------------------------------------------
const finder = document.querySelector("a[data-palette]");

// It opens at once, so that no letter is lost that is typed before the first results are there.
function openPalette() {
  if (!finder || document.querySelector("dialog.lk-palette[open]")) return;
  const frame = document.getElementById("palette-frame").content.cloneNode(true);
  const dialog = show(frame.querySelector("dialog"));
  const field = dialog.querySelector("input[type=search]");
  field.focus();
  let latest = 0;
  let waiting;
  const results = () => [...dialog.querySelectorAll("[data-results] a")];
  const look = async () => {
    const turn = ++latest;
    // In the body: what is pasted can be a token, which belongs in no URL.
    const body = new URLSearchParams(new FormData(field.form));
    const found = await part(finder.href, "[data-results]", { method: "POST", body });
    if (found.element && turn === latest) {
      dialog.querySelector("[data-results]").replaceWith(found.element);
    }
  };
  look();
  field.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(look, 120);
  });
  dialog.addEventListener("keydown", (event) => {
    const all = results();
    const at = all.indexOf(document.activeElement);
    if (event.key === "ArrowDown") (all[at + 1] || all[0])?.focus();
    else if (event.key === "ArrowUp") (at > 0 ? all[at - 1] : field).focus();
    else if (event.key === "Enter" && document.activeElement === field && all.length) all[0].click();
    else return;
    event.preventDefault();
  });
}

finder?.addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  openPalette();
});

// ---- keys ------------------------------------------------------------------------------------------
const JUMPS = { h: "", a: "apps/", w: "webhooks/", d: "deliveries/" };
let afterG = false;

document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    openPalette();
    return;
  }
  const typing = event.target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (afterG && event.key in JUMPS) {
    const home = document.querySelector("a.lk-brand");
    if (home) location.href = home.href + JUMPS[event.key];
  } else if (event.key === "/") {
    const search = document.querySelector("form[data-live] input[type=search]");
    event.preventDefault();
    if (search) search.select();
    else openPalette();
  } else if (event.key === "j" || event.key === "k") {
    moveInList(event.key === "j" ? 1 : -1);
  } else if (event.key === "x") {
    selectRow();
  } else if (event.key === "?") {
    document.querySelector("a[data-dialog=keyboard]")?.click();
  }
  afterG = event.key === "g";
});

// ---- messages: read out at once, without leaving the section that the address names ------------
// Once the browser has scrolled to the section, which takes the focus from everything else.
addEventListener("load", () => {
  if (document.activeElement !== document.body) return;
  document.querySelector(".lk-messages > .lk-flash")?.focus({ preventScroll: true });
});
document.addEventListener("click", (event) => {
  const message = event.target.closest("[data-close-message]")?.closest(".lk-flash");
  if (!message) return;
  message.remove();
  document.getElementById("main").focus({ preventScroll: true });
});

document.getElementById("errors")?.focus();
