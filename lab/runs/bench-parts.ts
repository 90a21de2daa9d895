// The parts of `npm run bench`, with their options. A part's module is loaded when it runs.

import type { CommandOption } from "../../tools/command-line.mjs";
import { PART_SHARES } from "../gpu/part.ts";
import { MODEL_SIZES } from "../model/model-sizes.ts";
import { QUANTISATIONS } from "../peers/quantise.ts";
import { SECTION_IDS, WEIGHTS_DTYPES } from "../page/bench-options.ts";

interface Part {
  readonly name: string;
  readonly about: string;
  /** Exports `run`, which gets the options, returns false if the measurements are not as they should be, and throws if it can't measure. */
  readonly module: string;
  readonly options: readonly CommandOption[];
  /** One that must be given: `run` gets it as `path`. */
  readonly argument?: { readonly name: string; readonly about: string };
}

function count<const Flags extends string>(flags: Flags, about: string, defaultText?: string) {
  return { flags, about, counts: "one", ...(defaultText !== undefined && { defaultText }) } as const;
}

const SIZES = Object.keys(MODEL_SIZES);
const GPU_PARTS = Object.keys(PART_SHARES);
const PEERS_SIZE = {
  flags: "--size <name>",
  about: "random weights of this size, or the embedded model",
  defaultText: "small",
  choices: ["small", "tiny", "gpt2", "tiny-llama", "smollm2-135m", "qwen3-0.6b", "embedded"],
} as const;
const QUICK = { flags: "--quick", about: "fewer points, shorter answers" } as const;
const SEQUENCES = {
  flags: "--sequences <counts>",
  about: "how many at once, such as 1,8",
  defaultText: "1,2,4,8,16,32,64",
  counts: "several",
} as const;
const LENGTHS = [
  count("--promptTokens <n>", "of each prompt", "32"),
  count("--outputTokens <n>", "of each answer", "32"),
] as const;
const OUT = { flags: "--out <folder>", about: "where the report goes", defaultText: "docs/benchmarks" } as const;
const BACKENDS = ["auto", "webgpu", "cpu"];

const ALL = [
  {
    name: "page",
    about: "The benchmark page (#/bench) in Chromium. Its report goes to docs/benchmarks/.",
    module: "lab/runs/bench-page.ts",
    options: [
      QUICK,
      { flags: "--size <name>", about: 'a size with random weights, or "embedded"', defaultText: "embedded" },
      { flags: "--model <folder>", about: "a folder's address instead of a size" },
      { flags: "--backend <name>", about: "what computes", defaultText: "auto", choices: BACKENDS },
      { flags: "--dtype <name>", about: "of the weights", choices: WEIGHTS_DTYPES },
      {
        flags: "--sections <names>",
        about: `some of ${SECTION_IDS.join(", ")}`,
        defaultText: "all",
        items: SECTION_IDS,
      },
      SEQUENCES,
      { flags: "--draft <name>", about: "the draft model: a size or a folder", defaultText: "the model itself" },
      ...LENGTHS,
      count("--repeats <n>", "rounds; figures are medians", "5"),
      count("--seed <n>", "of prompts and arrivals"),
      OUT,
      { flags: "--name <name>", about: "what the report is called", defaultText: "the adapter and the model" },
      { flags: "--note <text>", about: "what its readers should know" },
    ],
  },
  {
    name: "peers",
    about:
      "Chorus beside transformers.js and wllama, on the same weights, in one browser. Writes docs/benchmarks/peers.md.",
    module: "lab/peers/bench.ts",
    options: [
      PEERS_SIZE,
      {
        flags: "--gguf <type>",
        about: "packed weights: Chorus and wllama read the same GGUF file, transformers.js has its values as q8 or q4",
        defaultText: "floats",
        choices: Object.keys(QUANTISATIONS),
      },
      {
        flags: "--backend <name>",
        about: "where all of them compute; on the CPU each with one thread and with two",
        defaultText: "gpu",
        choices: ["gpu", "webgpu", "cpu"],
      },
      QUICK,
      count("--rounds <n>", "how often each is asked; figures are medians", "3; quick: 1"),
      {
        flags: "--adapter <name>",
        about: "Chromium's software adapter, or the machine's GPU",
        defaultText: "as CHORUS_ADAPTER says: swiftshader",
        choices: ["swiftshader", "software", "real"],
      },
      { flags: "--as <name>", about: "what to call the adapter, where the browser does not say it well" },
    ],
  },
  {
    name: "readme",
    about: "Measures nothing: makes README's figure and docs/benchmarks/peers.md out of peers.json.",
    module: "lab/peers/readme-figure.ts",
    options: [PEERS_SIZE],
  },
  {
    name: "gpu",
    about:
      "A GPU in ten minutes: kernels, run-ahead, decoding, prompts, sampling and exactness, in Chromium and in Node on " +
      "Dawn. Writes the report after each part.",
    module: "lab/runs/bench-gpu.ts",
    options: [
      {
        flags: "--minutes <n>",
        about: "the time for all parts: each is cut to its share, and the report says how",
        defaultText: "10",
        amount: "finite",
      },
      {
        flags: "--models <sizes>",
        about: `some of ${SIZES.join(", ")}`,
        defaultText: "gpt2,smollm2-135m; on a software adapter tiny,tiny-llama",
        items: SIZES,
      },
      SEQUENCES,
      { flags: "--parts <names>", about: `some of ${GPU_PARTS.join(", ")}`, defaultText: "all", items: GPU_PARTS },
      { flags: "--homes <names>", about: "chromium, node or both", defaultText: "both", items: ["chromium", "node"] },
      {
        flags: "--adapter <name>",
        about: "Chromium's: the machine's GPU, or its own software",
        defaultText: "real, or software where there is none",
        choices: ["real", "software"],
      },
      {
        flags: "--asHardware",
        about: "takes a software adapter for a GPU: its kernels, its tuning, its sizes of buffers",
      },
      { flags: "--pack <folder>", about: "only builds: that folder runs without packages, on a machine with Node" },
      { flags: "--peers", about: "runs the peers on the same adapter afterwards, which takes longer" },
      OUT,
      { flags: "--name <name>", about: "what the report is called", defaultText: "the adapter" },
    ],
  },
  {
    name: "soak",
    about: "A long day, compressed: random load of every kind, losses, mode and model changes. Fails for what grows.",
    module: "lab/runs/bench-soak.ts",
    options: [
      count("--minutes <n>", "how long", "6"),
      count("--seed <n>", "of the load", "1"),
      { flags: "--app", about: "walks over the app instead: random clicks, keys and sizes while four panes stream" },
    ],
  },
  {
    name: "isa",
    about: "What Mesa's compilers for AMD and Intel make of the kernels, without a GPU. Sets itself up on Debian.",
    module: "lab/runs/bench-isa.ts",
    options: [
      { flags: "--gpus <names>", about: "as Mesa calls them", defaultText: "navi31,phoenix,vangogh,tgl,dg2,lnl" },
      { flags: "--models <names>", about: "the first one with every candidate", defaultText: "all" },
      { flags: "--only <text>", about: "kernels whose name has this text" },
    ],
  },
  {
    name: "schemas",
    about: "Structured output by MaskBench's method: how many schemas it takes, and how long masks take.",
    module: "lab/runs/bench-schemas.ts",
    argument: { name: "<path>", about: "a file of one case a line (name, schema, tests), or a folder of cases" },
    options: [
      { flags: "--tokenizer <file>", about: "a tokenizer.json", defaultText: "tokens that are made up" },
      count("--vocabulary <n>", "how many to make up; 256 for coverage alone", "151936"),
      { flags: "--seconds <n>", about: "most time for a schema", defaultText: "10", amount: "finite" },
      { flags: "--verbose", about: "names each schema that fails, and why" },
    ],
  },
  {
    name: "serve",
    about: "Load on any server of OpenAI's API, as `vllm bench serve` makes it.",
    module: "lab/runs/bench-serve.ts",
    options: [
      {
        flags: "--url <address>",
        about: "a running server",
        defaultText: "npm run serve with the embedded model",
        isAddress: true,
      },
      { flags: "--model <folder>", about: "the model of the server that is started" },
      { flags: "--backend <name>", about: "what computes there", choices: BACKENDS },
      { flags: "--apiKey <key>", about: "the server's key" },
      count("--requests <n>", "how many", "64"),
      { flags: "--rate <n>", about: "requests a second, or inf", defaultText: "inf", amount: "endless" },
      count("--concurrency <n>", "most open at once", "no limit"),
      ...LENGTHS,
      count("--seed <n>", "of prompts and arrivals", "1"),
    ],
  },
] as const satisfies readonly Part[];

export const PARTS: readonly Part[] = ALL;

type PartNamed<Name> = Extract<(typeof ALL)[number], { readonly name: Name }>;
type NameIn<Flags extends string> = Flags extends `--${infer Name} <${string}`
  ? Name
  : Flags extends `--${infer Name}`
    ? Name
    : never;

/** A part's options as `run` gets them: "--size <name>" is `size?: string`, and "--quick" is `quick?: boolean`. */
export type OptionsOf<Name extends (typeof ALL)[number]["name"]> = {
  readonly [Flags in PartNamed<Name>["options"][number]["flags"] as NameIn<Flags>]?: Flags extends `${string}>`
    ? string
    : boolean;
};
