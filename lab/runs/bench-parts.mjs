// The parts of `npm run bench`, with their options. A part loads what it needs when it runs.

import { loadModule } from "./load-module.mjs";

/** @typedef {import("../../tools/command-line.mjs").CommandOption} CommandOption */
/** @typedef {Record<string, string | boolean | undefined>} Values */
/**
 * `argument` is one that must be given: `run` gets it as `path`. `run` returns false if the measurements are not as they should be, and throws if it can't measure.
 *
 * @typedef {{ name: string, about: string, options: readonly CommandOption[], argument?: { name: string, about: string }, run: (values: any) => Promise<unknown> }} Part
 */

const size = (/** @type {readonly string[]} */ choices, /** @type {string} */ defaultText) => ({
  flags: "--size <name>",
  about: "the shape of a model with random weights",
  defaultText,
  choices,
});
const quick = { flags: "--quick", about: "fewer points, shorter answers" };
const dtype = { flags: "--dtype <name>", about: "of the weights", choices: ["f32", "f16", "q8", "q4"] };
/** @returns {CommandOption} */
const count = (/** @type {[flags: string, about: string, defaultText?: string]} */ ...[flags, about, defaultText]) => ({
  flags,
  about,
  counts: "one",
  ...(defaultText !== undefined && { defaultText }),
});

/** @type {CommandOption} */
const sequences = {
  flags: "--sequences <counts>",
  about: "how many at once, such as 1,8",
  defaultText: "1,2,4,8,16,32,64",
  counts: "several",
};
const lengths = [
  count("--promptTokens <n>", "of each prompt", "32"),
  count("--outputTokens <n>", "of each answer", "32"),
];

/** @returns {readonly CommandOption[]} */
const pageOptions = (/** @type {readonly string[]} */ sections) => [
  quick,
  { flags: "--size <name>", about: 'a size with random weights, or "embedded"', defaultText: "embedded" },
  { flags: "--model <folder>", about: "a folder's address instead of a size" },
  { flags: "--backend <name>", about: "what computes", defaultText: "auto", choices: ["auto", "webgpu", "cpu"] },
  dtype,
  { flags: "--sections <names>", about: `some of ${sections.join(", ")}`, defaultText: "all", items: sections },
  sequences,
  { flags: "--draft <name>", about: "the draft model: a size or a folder", defaultText: "the model itself" },
  ...lengths,
  count("--repeats <n>", "rounds; figures are medians", "5"),
  count("--seed <n>", "of prompts and arrivals"),
  { flags: "--out <folder>", about: "where the report goes", defaultText: "docs/benchmarks" },
  { flags: "--name <name>", about: "what the report is called", defaultText: "the adapter and the model" },
  { flags: "--note <text>", about: "what its readers should know" },
];

/** @type {readonly CommandOption[]} */
const SERVE_OPTIONS = [
  {
    flags: "--url <address>",
    about: "a running server",
    defaultText: "npm run serve with the embedded model",
    isAddress: true,
  },
  { flags: "--model <folder>", about: "the model of the server that is started" },
  { flags: "--backend <name>", about: "what computes there", choices: ["auto", "webgpu", "cpu"] },
  { flags: "--apiKey <key>", about: "the server's key" },
  count("--requests <n>", "how many", "64"),
  { flags: "--rate <n>", about: "requests a second, or inf", defaultText: "inf", amount: "endless" },
  count("--concurrency <n>", "most open at once", "no limit"),
  ...lengths,
  count("--seed <n>", "of prompts and arrivals", "1"),
];

/** @returns {readonly CommandOption[]} */
const gpuOptions = (/** @type {readonly string[]} */ sizes, /** @type {readonly string[]} */ parts) => [
  {
    flags: "--minutes <n>",
    about: "the time for all parts: each is cut to its share, and the report says how",
    defaultText: "10",
    amount: "finite",
  },
  {
    flags: "--models <sizes>",
    about: `some of ${sizes.join(", ")}`,
    defaultText: "gpt2,smollm2-135m; on a software adapter tiny,tiny-llama",
    items: sizes,
  },
  sequences,
  { flags: "--parts <names>", about: `some of ${parts.join(", ")}`, defaultText: "all", items: parts },
  { flags: "--homes <names>", about: "chromium, node or both", defaultText: "both", items: ["chromium", "node"] },
  {
    flags: "--adapter <name>",
    about: "Chromium's: the machine's GPU, or its own software",
    defaultText: "real, or software where there is none",
    choices: ["real", "software"],
  },
  { flags: "--asHardware", about: "takes a software adapter for a GPU: its kernels, its tuning, its sizes of buffers" },
  { flags: "--pack <folder>", about: "only builds: that folder runs without packages, on a machine with Node" },
  { flags: "--peers", about: "runs the peers on the same adapter afterwards, which takes longer" },
  { flags: "--out <folder>", about: "where the report goes", defaultText: "docs/benchmarks" },
  { flags: "--name <name>", about: "what the report is called", defaultText: "the adapter" },
];

const PEERS_SIZES = ["small", "tiny", "gpt2", "tiny-llama", "smollm2-135m", "qwen3-0.6b", "embedded"];

/** @returns {Promise<readonly Part[]>} */
export async function listParts() {
  const { MODEL_SIZES } = await loadModule("lab/model/model-sizes.ts");
  const { SECTION_IDS } = await loadModule("lab/page/bench-options.ts");
  const { PART_IDS } = await loadModule("lab/gpu/part.ts");
  return [
    {
      name: "page",
      about: "The benchmark page (#/bench) in Chromium. Its report goes to docs/benchmarks/.",
      options: pageOptions(SECTION_IDS),
      run: measurePage,
    },
    {
      name: "peers",
      about:
        "Chorus beside transformers.js and wllama, on the same weights, in one browser. Writes docs/benchmarks/peers.md.",
      options: [
        { ...size(PEERS_SIZES, "small"), about: "random weights of this size, or the embedded model" },
        {
          flags: "--backend <name>",
          about: "where all of them compute; on the CPU each with one thread and with two",
          defaultText: "gpu",
          choices: ["gpu", "webgpu", "cpu"],
        },
        quick,
        count("--rounds <n>", "how often each is asked; figures are medians", "3; quick: 1"),
        {
          flags: "--adapter <name>",
          about: "Chromium's software adapter, or the machine's GPU",
          defaultText: "as CHORUS_ADAPTER says: swiftshader",
          choices: ["swiftshader", "software", "real"],
        },
        { flags: "--as <name>", about: "what to call the adapter, where the browser does not say it well" },
      ],
      run: async (values) => (await loadModule("lab/peers/bench.ts")).benchPeers(values),
    },
    {
      name: "readme",
      about: "Measures nothing: makes README's figure and docs/benchmarks/peers.md out of peers.json.",
      options: [{ ...size(PEERS_SIZES, "small"), about: "which of its sizes" }],
      run: async (values) => (await loadModule("lab/peers/bench.ts")).updateReadme(values),
    },
    {
      name: "gpu",
      about:
        "A GPU in ten minutes: kernels, submits, run-ahead, decoding, prompts, sampling and exactness, in Chromium and in " +
        "Node on Dawn. Writes the report after each part.",
      options: gpuOptions(Object.keys(MODEL_SIZES), PART_IDS),
      run: async (values) => (await import("./bench-gpu.mjs")).benchGpu(values),
    },
    {
      name: "soak",
      about: "A long day, compressed: random load of every kind, losses, mode and model changes. Fails for what grows.",
      options: [
        count("--minutes <n>", "how long", "6"),
        count("--seed <n>", "of the load", "1"),
        { flags: "--app", about: "walks over the app instead: random clicks, keys and sizes while four panes stream" },
      ],
      run: async (values) => (await import("./bench-soak.mjs")).benchSoak(await chromium(), values),
    },
    {
      name: "isa",
      about: "What Mesa's compilers for AMD and Intel make of the kernels, without a GPU. Sets itself up on Debian.",
      options: [
        { flags: "--gpus <names>", about: "as Mesa calls them", defaultText: "navi31,phoenix,vangogh,tgl,dg2,lnl" },
        { flags: "--models <names>", about: "the first one with every candidate", defaultText: "all" },
        { flags: "--only <text>", about: "kernels whose name has this text" },
      ],
      run: async (values) => (await import("./bench-isa.mjs")).benchIsa(values),
    },
    {
      name: "loop",
      about: "What a step costs in JavaScript, in Node, on a GPU that computes nothing.",
      options: [
        count("--rounds <n>", "figures are medians", "3"),
        { flags: "--against <folder>", about: "another checkout, measured by turns with this one" },
      ],
      run: async (values) => (await import("./bench-loop.mjs")).benchLoop(values),
    },
    {
      name: "schemas",
      about: "Structured output by MaskBench's method: how many schemas it takes, and how long masks take.",
      argument: { name: "<path>", about: "a file of one case a line (name, schema, tests), or a folder of cases" },
      options: [
        { flags: "--tokenizer <file>", about: "a tokenizer.json", defaultText: "tokens that are made up" },
        count("--vocabulary <n>", "how many to make up; 256 for coverage alone", "151936"),
        { flags: "--seconds <n>", about: "most time for a schema", defaultText: "10", amount: "finite" },
        { flags: "--verbose", about: "names each schema that fails, and why" },
      ],
      run: async (values) => (await import("./bench-schemas.mjs")).benchSchemas(values),
    },
    {
      name: "serve",
      about: "Load on any server of OpenAI's API, as `vllm bench serve` makes it.",
      options: SERVE_OPTIONS,
      run: async (values) => (await import("./bench-serve.mjs")).benchServe(values),
    },
  ];
}

async function measurePage(/** @type {Values} */ values) {
  const { benchmarkPage } = await import("./bench-page.mjs");
  const { size: sizeName, model, out = "docs/benchmarks", name, note, quick: isQuick, ...options } = values;
  // The page's own parameters, as in its address. Without any, its form would begin with a quick run.
  const params = { seed: 0, ...options, model: sizeName ?? model, ...(isQuick && { quick: "" }) };
  await benchmarkPage({ params, out: String(out), name: textOf(name), note: textOf(note) });
}

function textOf(/** @type {string | boolean | undefined} */ value) {
  return typeof value === "string" ? value : undefined;
}

async function chromium() {
  const { ensureChromium } = await import("../../tools/browsers/install-chromium.mjs");
  return ensureChromium();
}
