// node lab/runs/record-load.mjs NAME FILE: records the embedded model on one thread of this machine's CPU while questions arrive
// (after npm run build). npm run bench -- policies replays such recordings.

import { openAsBlob, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../../tools/run-command.mjs";

const MODEL = "public/models/chorus-chat";
const SHORT = [
  "What is the capital of France?",
  "Hello!",
  "What is two plus two?",
  "Why?",
  "And then?",
  "Who are you?",
];
const STORIES = ["Tell me a story about a fox.", "Tell me a long story about the sea."];

/**
 * Questions, one drawn for each request, its most tokens, and how many come a second on average.
 *
 * @typedef {{ questions: readonly (readonly [question: string, maxTokens: number])[], count: number, rate: number }} Load
 * @type {Record<string, Load>}
 */
const LOADS = {
  // Answers of 4 to 100 tokens. Some callers say how much they want.
  mixed: {
    questions: [
      ...SHORT.map((question) => /** @type {const} */ ([question, 32])),
      ...SHORT.map((question) => /** @type {const} */ ([question, 128])),
      ...STORIES.map((question) => /** @type {const} */ ([question, 128])),
    ],
    count: 48,
    rate: 80,
  },
  // Beginnings of stories, all of the same length.
  similar: { questions: STORIES.map((question) => [question, 20]), count: 40, rate: 60 },
};

const [name = "", file] = process.argv.slice(2);
const load = LOADS[name];
if (!load || !file) throw new Error(`Give one of ${Object.keys(LOADS).join(", ")}, and a file.`);
const { createEngine, recordRun } = await import(new URL("../../dist/lib/chorus.js", import.meta.url).href);
const { runnerImport } = await import("vite");
const importModule = (/** @type {string} */ path) => runnerImport(path, { configFile: false, root });
const { poissonArrivalsMs } = (await importModule("./lab/load/load.ts")).module;
const { seededRandom } = (await importModule("./lab/seeded-random.ts")).module;
const model = await Promise.all(
  readdirSync(join(root, MODEL)).map(async (part) => new File([await openAsBlob(join(root, MODEL, part))], part)),
);
const engine = await createEngine({ model, worker: false, backend: "cpu", cpuThreads: 1, maxNumSeqs: 4 });
const ask = (/** @type {string} */ content, /** @type {number} */ max_tokens, /** @type {number} */ seed) =>
  engine.chat.completions.create({ messages: [{ role: "user", content }], max_tokens, temperature: 1, seed });
for (const question of [...SHORT, ...STORIES]) await ask(question, 16, 0);
const random = seededRandom(1);
const recorder = recordRun(engine);
await Promise.all(
  poissonArrivalsMs(load.count, load.rate, random).map(async (/** @type {number} */ atMs, /** @type {number} */ i) => {
    const [question, maxTokens] = load.questions[Math.floor(random() * load.questions.length)] ?? ["", 1];
    await new Promise((resolve) => setTimeout(resolve, atMs));
    await ask(question, maxTokens, i);
  }),
);
// For a small file: short names, whole microseconds, and of each request only its end. A replay needs no more.
const lines = recorder.stop().trimEnd().split("\n");
const ids = [...new Set([...lines.join("\n").matchAll(/"requestId":"([^"]+)"/g)].map(([, id = ""]) => id))];
const kept = lines.filter(
  (/** @type {string} */ line) => !line.startsWith('{"type":"request"') || line.includes('"status":"finished"'),
);
const text = ids.reduce((all, id, i) => all.replaceAll(`"${id}"`, `"r${i}"`), kept.join("\n"));
writeFileSync(file, `${text.replaceAll(/(Ms":\d+\.\d{3})\d+/g, "$1")}\n`);
await engine.dispose();
