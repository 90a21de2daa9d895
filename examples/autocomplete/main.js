import { createEngine } from "chorus-llm";

const NUM_SUGGESTIONS = 4;
const find = (selector) => document.querySelector(selector);
const textarea = find("textarea");

const engine = await createEngine({
  model: new URLSearchParams(location.search).get("model") ?? "HuggingFaceTB/SmolLM2-135M-Instruct",
  onProgress: ({ stage, done, total }) => {
    if (stage === "weights" && total > 0)
      find("#counts").textContent = `Loading the model: ${Math.round((100 * done) / total)}%`;
  },
}).catch((error) => {
  find("#counts").textContent = error.message;
  throw error;
});
textarea.disabled = false;
textarea.focus();
find("#counts").textContent = "Type. Tab takes the first suggestion, Escape drops them.";

/** Returns a few ways in which the text could go on. */
async function suggest(prompt, signal) {
  const body = { prompt, n: NUM_SUGGESTIONS, max_tokens: 8, temperature: 0.8, stop: ["\n"] };
  const { choices } = await engine.completions.create(body, { signal });
  return [...new Set(choices.map(({ text }) => text))];
}

let typing = new AbortController();
let numAsked = 0;
let numAborted = 0;

async function showSuggestions() {
  // The request for the previous text is useless: its place in the batch is free at once.
  typing.abort();
  typing = new AbortController();
  const { signal } = typing;
  const { value } = textarea;
  showButtons([]);
  if (value.trim() === "") return;
  numAsked += 1;
  const askedMs = performance.now();
  try {
    const suggestions = await suggest(value, signal);
    const ms = Math.round(performance.now() - askedMs);
    showButtons(suggestions);
    find("#counts").textContent =
      `${NUM_SUGGESTIONS} suggestions in ${ms} ms; ${numAsked} requests, ${numAborted} aborted.`;
    find("#compare").disabled = isComparing;
  } catch (error) {
    if (!signal.aborted) throw error;
    numAborted += 1;
  }
}

function showButtons(suggestions) {
  find("#suggestions").replaceChildren(...suggestions.map(asButton));
}

function asButton(suggestion) {
  const button = Object.assign(document.createElement("button"), { textContent: suggestion });
  button.addEventListener("click", () => take(suggestion));
  return button;
}

function take(suggestion) {
  textarea.value += suggestion;
  textarea.focus();
  void showSuggestions();
}

textarea.addEventListener("input", () => void showSuggestions());
textarea.addEventListener("keydown", (event) => {
  const first = find("#suggestions button");
  if (event.key === "Escape") showButtons([]);
  // Shift+Tab, and Tab after Escape, leave the box as in any other.
  if (event.key !== "Tab" || event.shiftKey || first === null) return;
  event.preventDefault();
  take(first.textContent);
});

let isComparing = false;

async function milliseconds(batchingMode) {
  await engine.update({ batchingMode });
  const beganMs = performance.now();
  for (let i = 0; i < 10; i++) await suggest(textarea.value);
  return Math.round((performance.now() - beganMs) / 10);
}

find("#compare").addEventListener("click", async () => {
  isComparing = true;
  find("#compare").disabled = true;
  try {
    const together = await milliseconds("continuous");
    const alone = await milliseconds("sequential");
    const { name, adapter } = engine.model;
    find("#figure").textContent =
      `${NUM_SUGGESTIONS} suggestions: ${together} ms together, ${alone} ms one after the other (${name}, ${adapter}).`;
  } catch (error) {
    find("#figure").textContent = error.message;
  } finally {
    await engine.update({ batchingMode: "continuous" });
    isComparing = false;
    find("#compare").disabled = false;
  }
});
