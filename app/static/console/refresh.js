// Keeps parts of a page current: elements with an id and data-refresh, the seconds between two requests.
// Elements with an id and data-follows change along: what counts rows. A message with data-begun says how it ended.
// Rows with data-key keep their place, focus and selection. Without script, reloading the page does the same.
"use strict";

{
  const SLOWEST = 4; // times as long between two requests while nothing changes
  const KEPT = new Set(["checked", "open", "value"]); // attributes that people change
  const TYPED = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio])";

  const announcer = document.createElement("div");
  announcer.className = "visually-hidden";
  announcer.setAttribute("role", "status");
  document.body.append(announcer);

  let timer;
  let slowness = 1;
  let isLeaving = false;

  const regions = () => [...document.querySelectorAll("[id][data-refresh]")];

  function isBusy() {
    const selection = getSelection();
    const main = document.getElementById("main");
    if (selection && !selection.isCollapsed && main.contains(selection.anchorNode)) return true;
    return Boolean(document.querySelector("dialog[open]") || document.activeElement?.matches(TYPED));
  }

  function schedule() {
    clearTimeout(timer);
    const seconds = regions().map((region) => Number(region.dataset.refresh));
    if (!seconds.length || isLeaving || document.hidden) return;
    timer = setTimeout(refresh, Math.min(...seconds) * 1000 * slowness);
  }

  async function fetched(address) {
    const answer = await fetch(address, {
      headers: { "X-Requested-With": "refresh" },
      credentials: "same-origin",
    });
    const isFinal = answer.redirected || (answer.status >= 400 && answer.status < 500);
    const page = answer.ok && !isFinal;
    return { isFinal, page: page && new DOMParser().parseFromString(await answer.text(), "text/html") };
  }

  async function refresh() {
    if (isBusy()) return schedule();
    const address = location.href;
    let answer = { isFinal: false, page: null };
    try {
      answer = await fetched(address);
    } catch {
      // The server can't be reached: the next request comes later.
    }
    if (answer.isFinal || isLeaving) return;
    let isChanged = false;
    if (answer.page && !isBusy() && address === location.href) isChanged = updateAll(answer.page);
    slowness = isChanged ? 1 : Math.min(SLOWEST, slowness * 1.5);
    schedule();
  }

  function updateAll(page) {
    let isChanged = false;
    for (const region of regions()) {
      const fresh = page.getElementById(region.id);
      if (!fresh) continue;
      const { announcement = "", ended = "" } = region.dataset;
      const now = fresh.dataset.announcement || (announcement && (fresh.dataset.ended ?? ended));
      const isFixed = region.querySelector("[data-key] input[type=checkbox]:checked") !== null;
      if (morph(region, fresh, isFixed)) isChanged = true;
      if (now && now !== announcement) say(now);
    }
    for (const follower of document.querySelectorAll("[id][data-follows]")) {
      const fresh = page.getElementById(follower.id);
      if (fresh && morph(follower, fresh, false)) isChanged = true;
    }
    return isChanged;
  }

  function say(words) {
    announcer.textContent = words;
    for (const message of document.querySelectorAll("[data-begun] > div")) message.textContent = words;
  }

  const keyOf = (node) => node.dataset?.key || "";
  const isAlike = (one, other) => one.nodeName === other.nodeName && keyOf(one) === keyOf(other);

  // Makes `old` what `fresh` is, node by node; returns whether anything but a time has changed.
  // While `isFixed`, because rows are selected, no row comes or goes.
  function morph(old, fresh, isFixed) {
    if (!isAlike(old, fresh)) {
      old.replaceWith(fresh);
      return true;
    }
    if (old.matches?.("[data-counts]")) return false; // counts what is selected here
    if (old.nodeType !== Node.ELEMENT_NODE) {
      if (old.data === fresh.data) return false;
      old.data = fresh.data;
      return true;
    }
    const hasOther = morphAttributes(old, fresh);
    const isChanged = morphChildren(old, fresh, isFixed);
    return old.nodeName !== "TIME" && (hasOther || isChanged);
  }

  function morphAttributes(old, fresh) {
    let isChanged = false;
    const isHidden = old.type === "hidden";
    for (const { name, value } of [...fresh.attributes]) {
      if ((KEPT.has(name) && !isHidden) || old.getAttribute(name) === value) continue;
      old.setAttribute(name, value);
      isChanged = isChanged || !isHidden;
    }
    for (const { name } of [...old.attributes]) {
      if (KEPT.has(name) || fresh.hasAttribute(name)) continue;
      old.removeAttribute(name);
      isChanged = true;
    }
    return isChanged;
  }

  function morphChildren(old, fresh, isFixed) {
    const own = new Map([...old.children].filter(keyOf).map((child) => [keyOf(child), child]));
    const wanted = new Set([...fresh.children].map(keyOf).filter(Boolean));
    if (isFixed && own.size) return morphRows(own, [...fresh.children]);
    let isChanged = false;
    let at = old.firstChild;
    for (const child of [...fresh.childNodes]) {
      const key = keyOf(child);
      const match = key ? own.get(key) : at && isAlike(at, child) && at;
      if (!match) {
        if (key && own.size) child.classList.add("is-new");
        old.insertBefore(child, at);
        isChanged = true;
        continue;
      }
      // What is in the way and isn't wanted goes, so that a row with focus is never moved.
      while (at !== match && at && !wanted.has(keyOf(at))) at = removed(at);
      if (at === match) at = match.nextSibling;
      else old.insertBefore(match, at);
      if (morph(match, child, isFixed)) isChanged = true;
    }
    while (at) {
      at = removed(at);
      isChanged = true;
    }
    return isChanged;
  }

  function morphRows(own, rows) {
    let isChanged = false;
    for (const row of rows) {
      const match = own.get(keyOf(row));
      if (match && morph(match, row, true)) isChanged = true;
    }
    return isChanged;
  }

  function removed(node) {
    const next = node.nextSibling;
    node.remove();
    return next;
  }

  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    slowness = 1;
    if (!document.hidden) refresh();
  });
  document.addEventListener("submit", (event) => {
    if (!event.defaultPrevented) isLeaving = true;
  });
  addEventListener("pagehide", () => { isLeaving = true; });
  addEventListener("pageshow", () => {
    isLeaving = false;
    schedule();
  });
}
