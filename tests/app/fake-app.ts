// The interface's test bench: `npm run dev`, then open /tests/app/fake-app.html with
//   ?panes=4          panes that are open (1..16)
//   &ask              each has asked a question; ask=Why? is asked by all
//   &max_tokens=64    and the other settings of the app's own address
//   &load=8000        milliseconds the model takes to load; load=held: it begins with an event "startload"
//   &fail=model_not_found|webgpu_unavailable|...   how loading ends
//   &nogpu            a browser without WebGPU
//   &context=256      the model's context
//   &name=fake-gpt    the model's name
//   &die=3000         milliseconds until the running engine dies
//   &seqs=2           most answers that grow at once, unless the settings say
//   &drafts=4         tokens drafted in each step
//   &stepms=60        a step's length; an event "steps" on the window makes `detail` of them at once and holds the next ones,
//                     or lets them go on by the clock where it is Infinity
//   &paragraphs=6     length of the answers to questions that it doesn't know; one has 38 words
//   &mbps=50          megabytes a second of a download; an event "receive" on the window brings `detail` bytes at once
//   &keep             the chats are kept, as in the app

import type { CreateEngineOptions } from "../../src/protocol/engine.ts";
import { ChorusError, type ChorusErrorCode } from "../../src/protocol/errors.ts";
import type { Alert, LoadProgress, LoadStage } from "../../src/protocol/reports.ts";
import { ChatStorage } from "../../src/app/state/workspace/chat-storage.ts";
import { EMBEDDED_MODEL } from "../../src/app/state/models/embedded-model.ts";
import { labelOfChoice } from "../../src/app/state/models/model-choice.ts";
import { readPageOptions } from "../../src/app/state/app/page-options.ts";
import { loadKept, startApp } from "../../src/app/ui/app/start-app.ts";
import { FakeEngine } from "./fake-engine.ts";
import { FAKE_MODEL } from "./fake-model-card.ts";
import { FakeModels } from "./fake-models.ts";

const query = new URLSearchParams(location.search);
const number = (name: string, fallback: number) => Number(query.get(name) ?? fallback);

const ANSWERS: Record<string, string> = {
  "Why does bread rise?":
    "Yeast is alive. It eats the sugars in the flour and breathes out carbon dioxide. The dough is stretchy, because of the gluten, and holds the gas in small pockets.",
  "What is the capital of France?": "The capital of France is Paris.",
  "How do I make pancakes?":
    "## Pancakes\n\nFor **four** of them you need:\n\n- 200 g of flour\n- 3 dl of *milk*\n- 2 eggs, <b>whole</b>\n\n1. Mix\n2. Wait\n   - at least ten minutes\n3. Fry\n\n> Patience is an ingredient.\n\nIn code:\n\n```js\nfor (const pancake of pan) pancake.flip();\n```\n\n| for | flour |\n| --- | ---: |\n| 2 | 100 g |\n| 4 | 200 g |\n\nMore in [a book](https://example.org/book), ![a picture](https://example.org/a.png), [a trap](javascript:alert(1)) or `pancake --help`.",
  "Write a short poem about the sea at night.":
    "The harbour keeps its lamps alight,\nthe nets are folded, dry and brown,\nand all the boats lean into night\nto hear the tide come up to town.\n\nIt says one word, and says it low,\nand draws it back beneath the pier;\nand those who listen, as they go,\nsay it again, for none to hear.",
};
const THOUGHTS: Record<string, string> = {
  "What is six times seven?": "<think>Six sevens are wanted.</think>It is 42.",
  "Think without end.": `<think>${"Hm. ".repeat(50_000)}`,
};
const LONG_ANSWER = Array.from(
  { length: number("paragraphs", 6) },
  () =>
    "There is more to it than one would think. People have written about it for as long as they have written, and most of what they wrote is lost; what is left says that nobody was ever sure.",
).join("\n\n");
const QUESTIONS = [...Object.keys(ANSWERS), "Explain paged memory to a ten-year-old.", "Who are you?"];

async function load(onProgress: (progress: LoadProgress) => void): Promise<void> {
  const isHeld = query.get("load") === "held";
  const durationMs = isHeld ? 1000 : number("load", 0);
  if (durationMs === 0) return;
  if (isHeld) await new Promise((resolve) => addEventListener("startload", resolve, { once: true }));
  const parts: [stage: LoadStage, total: number, from: number, to: number, detail: string][] = [
    ["adapter", 1, 0, 0.05, "Fake adapter"],
    ["tokenizer", 260_000, 0.05, 0.15, "0.3 MB"],
    ["weights", 8_500_000, 0.1, 0.6, "8.5 MB"],
    ["memory", 8_500_000, 0.6, 0.85, "8.5 MB"],
    ["kernels", 14, 0.15, 0.9, "14 pipelines"],
    ["cache", 240, 0.9, 1, "240 blocks"],
  ];
  const startedMs = performance.now();
  for (let share = 0; share < 1;) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    share = Math.min(1, (performance.now() - startedMs) / durationMs);
    for (const [stage, total, from, to, detail] of parts) {
      if (share <= from) continue;
      const done = Math.round(Math.min(1, (share - from) / (to - from)) * total);
      onProgress({ stage, done, total, ...(done === total && { detail }) });
    }
  }
}

/** Shorter steps are made several at once: drawing the page after each would cost more than all the rest. */
const MIN_TICK_MS = 50;

const models = new FakeModels();
setInterval(() => models.receive(number("mbps", 50) * 1e5), 100);
addEventListener("receive", (event) => event instanceof CustomEvent && models.receive(Number(event.detail)));

let isFirstStart = true;

async function createEngine({
  model,
  dtype,
  speculation,
  maxNumSeqs = number("seqs", 64),
  onProgress = () => {},
}: CreateEngineOptions): Promise<FakeEngine> {
  await load(onProgress);
  if (Array.isArray(model) && !model.some(({ name }) => name === "config.json")) {
    throw new ChorusError("model_not_found", `There is no config.json in the files you chose.`);
  }
  const fail = query.get("fail");
  if (fail && isFirstStart) {
    isFirstStart = false;
    throw new ChorusError(
      fail as ChorusErrorCode,
      "models/chorus-chat/config.json was not there (404). Check the address.",
    );
  }
  const engine = new FakeEngine({
    answer: (messages) => ({ ...ANSWERS, ...THOUGHTS })[messages.at(-1)?.content ?? ""] ?? LONG_ANSWER,
    maxNumSeqs,
    numDrafts: number("drafts", speculation ? 4 : 0),
    model: {
      contextLength: number("context", 1024),
      name: query.get("name") ?? FAKE_MODEL.name,
      ...(query.has("threads") && { backend: "cpu", adapter: `CPU, ${query.get("threads")}` }),
      ...(dtype && { dtype }),
      ...(typeof model === "string" && model !== EMBEDDED_MODEL && { name: labelOfChoice({ model }) }),
    },
  });
  const step = () => engine.step(performance.now(), 6);
  let areHeld = false;
  const stepMs = Math.max(1, number("stepms", 60));
  const stepsAtOnce = Math.ceil(MIN_TICK_MS / stepMs);
  setInterval(() => {
    if (!areHeld) for (let made = 0; made < stepsAtOnce; made++) step();
  }, stepMs * stepsAtOnce);
  addEventListener("steps", (event) => {
    const count = event instanceof CustomEvent ? Number(event.detail) : 0;
    areHeld = count < Infinity;
    if (areHeld) for (let made = 0; made < count; made++) step();
  });
  addEventListener("notifyalert", (event) => event instanceof CustomEvent && engine.notifyAlert(event.detail as Alert));
  if (query.has("die") && isFirstStart) {
    const error = {
      code: "device_lost",
      message: "The browser took the GPU away: the driver was reset.",
      param: null,
    } as const;
    setTimeout(() => engine.die(error), number("die", 0));
  }
  isFirstStart = false;
  return engine;
}

if (query.has("nogpu")) Reflect.deleteProperty(Navigator.prototype, "gpu");

async function start(root: HTMLElement): Promise<void> {
  const kept = query.has("keep") ? { kept: await loadKept(new ChatStorage()) } : {};
  const { workspace } = startApp({
    ...kept,
    root,
    createEngine,
    models,
    addressSettings: readPageOptions(location.search).addressSettings,
  }).openChats();
  for (let count = 1; count < number("panes", 1); count++) workspace.addPane();
  if (query.has("ask")) {
    workspace.store
      .getState()
      .panes.forEach((pane, index) => pane.send(query.get("ask") || (QUESTIONS[index % QUESTIONS.length] ?? "")));
  }
}

const root = document.getElementById("root");
if (root) void start(root);
