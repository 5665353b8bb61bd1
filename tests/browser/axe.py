"""Axe, and what it finds on a page."""

from collections.abc import Mapping

from playwright.sync_api import Page

from tests.servers.run import ROOT

_AXE = ROOT / "tests" / "browser" / "node_modules" / "axe-core" / "axe.min.js"

Rules = Mapping[str, object]

ALL_RULES: Rules = {"resultTypes": ["violations"], "preload": {"assets": ["media"]}}
"""All rules that are on by default, of which none reads the style sheets."""

COLOR_RULES: Rules = {**ALL_RULES, "runOnly": ["color-contrast", "link-in-text-block"]}
"""The rules that can find something in a second theme alone: it differs in colors."""

RULES_WITHOUT_COLORS: Rules = {**ALL_RULES, "rules": {"color-contrast": {"enabled": False}}}
"""All rules but the one about colors, which takes as long as all others."""

_AROUND = ("body > .lk-top", "body > .lk-nav")

_RUN = """async ([rules, around]) => {
  if (!window.axe) return null;
  const ids = [...document.querySelectorAll('[id]')].map((one) => one.id);
  const area = document.querySelector('dialog[open]') ?? document;
  const beside = (one) => one === document.body ? [] : [
    ...[...one.parentElement.children].filter((other) => other !== one),
    ...beside(one.parentElement)];
  const unseen = area !== document ? beside(area)
    : around.flatMap((part) => [...document.querySelectorAll(part)]);
  const places = unseen.map(() => document.createComment(''));
  unseen.forEach((one, number) => one.replaceWith(places[number]));
  const found = (await axe.run(area, rules)).violations.map(
    ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).join(' ')}`);
  unseen.forEach((one, number) => places[number].replaceWith(one));
  const twice = new Set(ids.filter((id, place) => ids.indexOf(id) !== place));
  return [...found, ...[...twice].map((id) => `duplicate-id: IDs must be unique: ${id}`)];
}"""
"""What axe finds on a page, or in its open dialog, below which nothing can be used.

What axe needn't see is taken away meanwhile: it would look at each element of it. And IDs that
several elements have: of those axe says only that somebody should look at them.
"""

_CUT = """() => {
  const read = /^(class|role|type|style|lang|dir|tabindex|scope|autocomplete|aria-(?!label$).*)$/;
  const refers = /^(for|form|list|headers|aria-(labelledby|describedby|controls|owns|details))$/;
  const elements = {}, references = {};
  const add = (counts, id) => { counts[id] = (counts[id] ?? 0) + 1; };
  for (const { attributes } of document.querySelectorAll('*')) {
    for (const { name, value } of attributes) {
      if (name === 'id') add(elements, value);
      if (refers.test(name)) value.split(' ').forEach((id) => add(references, id));
    }
  }
  const attribute = ({ name, value }) =>
    name === 'id' ? `${name}=${elements[value]}/${references[value] ?? 0}`
    : refers.test(name) ? `${name}=${value.split(' ').map((id) => elements[id] ?? 0)}`
    : read.test(name) ? `${name}=${value}`
    : value.trim() ? name : `${name}=`;
  const shapes = new Map();
  const shape = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return node.data.trim() && '…';
    if (node.nodeType !== Node.ELEMENT_NODE || node.localName === 'wbr') return '';
    if (!shapes.has(node)) {
      const inside = [...node.childNodes].map(shape).join('').replace(/…+/g, '…');
      const attributes = [...node.attributes].map(attribute);
      shapes.set(node, `<${node.localName} ${attributes}>${inside}</>`);
    }
    return shapes.get(node);
  };
  const lists = 'tbody, ul, ol, select, datalist, optgroup, fieldset, svg, div';
  for (const list of document.querySelectorAll(lists)) {
    const counts = {};
    for (const one of [...list.children]) {
      const kind = shape(one);
      add(counts, kind);
      if (counts[kind] > 2) one.remove();
    }
  }
}"""

_KINDS = """(around) => around.flatMap(
  (part) => [...document.querySelectorAll(`${part}, ${part} *`)]).map(
  ({ localName, attributes, textContent }) => `${localName} ${[...attributes].map(
    ({ name, value }) => /^(id|href|action|value|title|for|aria-(label.*|controls))$/.test(name)
      && value.trim() ? name : `${name}=${value}`)} ${textContent.trim() && '…'}`)"""


def kinds_around(page: Page) -> set[str]:
    """Return the elements of the console's header and navigation with their attributes.

    What their texts, addresses and IDs are is left out: where they are known, axe finds nothing
    new.
    """
    return {*page.evaluate(_KINDS, _AROUND)}


def findings(page: Page, rules: Rules = ALL_RULES, *, around: bool = True) -> list[str]:
    """Return what axe finds on a page, or in its open dialog.

    ``around`` says whether it also looks at the console's header and navigation, which are the
    same on all pages.

    Pages that are opened later have axe by themselves: Chromium compiles it once for all of them,
    which takes half as long as examining a page.
    """
    found: list[str] | None = page.evaluate(_RUN, [rules, [] if around else _AROUND])
    if found is None:
        page.add_init_script(path=_AXE)
        page.evaluate(_AXE.read_text(encoding="utf-8"))
        return findings(page, rules, around=around)
    return found


def cut_alike(page: Page) -> None:
    """Remove rows, options and fields that differ from two before them in texts and values alone.

    A text is the same with places where its line can break.

    Axe would find in them what it finds in those. An ID is compared by how many elements have it,
    and how many refer to it.
    """
    page.evaluate(_CUT)
