// The search of the documents: as one types, in the page.

import { findSections, wordsOf } from "./find-sections.js";

/** @typedef {import("./find-sections.js").Section} Section */

const MOST = 30;
/** Characters of a section that are shown before the first word that was found, and in all. */
const EXCERPT = { before: 60, length: 220 };

const box = /** @type {HTMLInputElement} */ (document.querySelector("input[type=search]"));
const status = /** @type {HTMLElement} */ (document.querySelector("[role=status]"));
const list = /** @type {HTMLElement} */ (document.querySelector("#found"));

// Some have typed before this script came.
box.value ||= new URLSearchParams(location.search).get("q") ?? "";
status.textContent = "Loading…";
try {
  const response = await fetch("look/sections.json");
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  const sections = /** @type {readonly Section[]} */ (await response.json());
  const update = () => show(sections);
  box.addEventListener("input", update);
  box.addEventListener("change", remember);
  update();
} catch (error) {
  const why = error instanceof Error ? error.message : String(error);
  status.textContent = `The search needs its index, which could not be loaded (${why}). Check the network, and reload this page.`;
}

/** @param {readonly Section[]} sections */
function show(sections) {
  const words = wordsOf(box.value);
  const found = findSections(sections, box.value);
  const number = found.length > MOST ? `The first ${MOST} of ${found.length} sections` : plural(found.length);
  status.textContent = words.length > 0 ? number : "";
  list.replaceChildren(...found.slice(0, MOST).map((section) => itemOf(section, words)));
}

/** Whoever comes back from a page finds what was found. Safari allows this 100 times in 30 seconds: too few for each key. */
function remember() {
  history.replaceState(null, "", box.value.trim() === "" ? location.pathname : `?q=${encodeURIComponent(box.value)}`);
}

/** @param {number} count */
function plural(count) {
  if (count === 0) return "No section has all of these words.";
  return count === 1 ? "1 section" : `${count} sections`;
}

/** @param {Section} section @param {readonly string[]} words */
function itemOf({ href, title, heading, text }, words) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = href;
  link.textContent = heading === title || heading === "" ? title : `${title}: ${heading}`;
  const excerpt = document.createElement("p");
  const lower = text.toLowerCase();
  const first = Math.min(...words.map((word) => lower.indexOf(word)).filter((at) => at >= 0), text.length);
  const from = first === text.length || first <= EXCERPT.before ? 0 : text.indexOf(" ", first - EXCERPT.before) + 1;
  const to = from + EXCERPT.length;
  const part = `${from > 0 ? "… " : ""}${text.slice(from, to)}${to < text.length ? " …" : ""}`;
  excerpt.append(...marked(part, words));
  item.append(link, excerpt);
  return item;
}

/** Returns the text with the words in <mark>. @param {string} text @param {readonly string[]} words */
function marked(text, words) {
  const pattern = new RegExp(
    `(${words.map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")).join("|")})`,
    "iu",
  );
  return text.split(pattern).map((part, i) => {
    if (i % 2 === 0) return part;
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
}
