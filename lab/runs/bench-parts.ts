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

/** @param defaultText what it is without it; null: nothing to speak of @param kind what it may be */
function option<const Flags extends string>(
  flags: Flags,
  about: string,
  defaultText: string | null = null,
  kind: Omit<CommandOption, "flags" | "about" | "defaultText"> = {},
): CommandOption & { readonly flags: Flags } {
  return { flags, about, ...(defaultText !== null && { defaultText }), ...kind };
}

/** Some of a list, with commas between. */
function some<const Flags extends string>(flags: Flags, items: readonly string[], defaultText: string) {
  return option(flags, `some of ${items.join(", ")}`, defaultText, { items });
}

const ONE = { counts: "one" } as const;
const SIZES = Object.keys(MODEL_SIZES);
const PEERS_SIZES = ["small", "tiny", "gpt2", "tiny-llama", "smollm2-135m", "qwen3-0.6b", "embedded"];
const PEERS_SIZE = option("--size <name>", "random weights of this size, or the embedded model", "small", {
  choices: PEERS_SIZES,
});
const QUICK = option("--quick", "fewer points, shorter answers");
const SEQUENCES = option("--sequences <counts>", "how many at once, such as 1,8", "1,2,4,8,16,32,64", {
  counts: "several",
});
const LENGTHS = [
  option("--promptTokens <n>", "of each prompt", "32", ONE),
  option("--outputTokens <n>", "of each answer", "32", ONE),
] as const;
const OUT = option("--out <folder>", "where the report goes", "docs/benchmarks");
const BACKENDS = ["auto", "webgpu", "cpu"];

const ALL = [
  {
    name: "page",
    about: "The benchmark page (#/bench) in Chromium. Its report goes to docs/benchmarks/.",
    module: "lab/runs/bench-page.ts",
    options: [
      QUICK,
      option("--size <name>", 'a size with random weights, or "embedded"', "embedded"),
      option("--model <folder>", "a folder's address instead of a size"),
      option("--backend <name>", "what computes", "auto", { choices: BACKENDS }),
      option("--dtype <name>", "of the weights", null, { choices: WEIGHTS_DTYPES }),
      some("--sections <names>", SECTION_IDS, "all"),
      SEQUENCES,
      option("--draft <name>", "the draft model: a size or a folder", "the model itself"),
      ...LENGTHS,
      option("--repeats <n>", "rounds; figures are medians", "5", ONE),
      option("--seed <n>", "of prompts and arrivals", null, ONE),
      OUT,
      option("--name <name>", "what the report is called", "the adapter and the model"),
      option("--note <text>", "what its readers should know"),
    ],
  },
  {
    name: "peers",
    about:
      "Chorus beside transformers.js and wllama, on the same weights, in one browser. Writes docs/benchmarks/peers.md.",
    module: "lab/peers/bench.ts",
    options: [
      PEERS_SIZE,
      option(
        "--gguf <type>",
        "packed weights: Chorus and wllama read the same GGUF file, transformers.js has its values as q8 or q4",
        "floats",
        { choices: Object.keys(QUANTISATIONS) },
      ),
      option("--backend <name>", "where all of them compute; on the CPU each with one thread and with two", "gpu", {
        choices: ["gpu", "webgpu", "cpu"],
      }),
      QUICK,
      option("--rounds <n>", "how often each is asked; figures are medians", "3; quick: 1", ONE),
      option(
        "--adapter <name>",
        "Chromium's software adapter, or the machine's GPU",
        "as CHORUS_ADAPTER says: swiftshader",
        { choices: ["swiftshader", "software", "real"] },
      ),
      option("--as <name>", "what to call the adapter, where the browser does not say it well"),
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
      option("--minutes <n>", "the time for all parts: each is cut to its share, and the report says how", "10", {
        amount: "finite",
      }),
      some("--models <sizes>", SIZES, "gpt2,smollm2-135m; on a software adapter tiny,tiny-llama"),
      SEQUENCES,
      some("--parts <names>", Object.keys(PART_SHARES), "all"),
      option("--homes <names>", "chromium, node or both", "both", { items: ["chromium", "node"] }),
      option(
        "--adapter <name>",
        "Chromium's: the machine's GPU, or its own software",
        "real, or software where there is none",
        { choices: ["real", "software"] },
      ),
      option("--asHardware", "takes a software adapter for a GPU: its kernels, its tuning, its sizes of buffers"),
      option("--pack <folder>", "only builds: that folder runs without packages, on a machine with Node"),
      option("--peers", "runs the peers on the same adapter afterwards, which takes longer"),
      OUT,
      option("--name <name>", "what the report is called", "the adapter"),
    ],
  },
  {
    name: "soak",
    about: "A long day, compressed: random load of every kind, losses, mode and model changes. Fails for what grows.",
    module: "lab/runs/bench-soak.ts",
    options: [
      option("--minutes <n>", "how long", "10", ONE),
      option("--seed <n>", "of the load", "1", ONE),
      option("--app", "walks over the app instead: random clicks, keys and sizes while four panes stream"),
      option("--browser <name>", "for --app: chromium or firefox", "chromium", { choices: ["chromium", "firefox"] }),
    ],
  },
  {
    name: "isa",
    about: "What Mesa's compilers for AMD and Intel make of the kernels, without a GPU. Sets itself up on Debian.",
    module: "lab/runs/bench-isa.ts",
    options: [
      option("--gpus <names>", "as Mesa calls them", "navi31,phoenix,vangogh,tgl,dg2,lnl"),
      option("--models <names>", "the first one with every candidate", "all"),
      option("--only <text>", "kernels whose name has this text"),
      option("--loops", "print the instructions of each innermost loop instead: multiply-adds: ALU + memory"),
      option("--kernels <file>", "WGSL of others: a list of { label, code } in JSON"),
    ],
  },
  {
    name: "schemas",
    about: "Structured output by MaskBench's method: how many schemas it takes, and how long masks take.",
    module: "lab/runs/bench-schemas.ts",
    argument: { name: "<path>", about: "a file of one case a line (name, schema, tests), or a folder of cases" },
    options: [
      option("--tokenizer <file>", "a tokenizer.json", "tokens that are made up"),
      option("--vocabulary <n>", "how many to make up; 256 for coverage alone", "151936", ONE),
      option("--seconds <n>", "most time for a schema", "10", { amount: "finite" }),
      option("--verbose", "names each schema that fails, and why"),
    ],
  },
  {
    name: "serve",
    about: "Load on any server of OpenAI's API, as `vllm bench serve` makes it.",
    module: "lab/runs/bench-serve.ts",
    options: [
      option("--url <address>", "a running server", "npm run serve with the embedded model", { isAddress: true }),
      option("--model <folder>", "the model of the server that is started"),
      option("--backend <name>", "what computes there", null, { choices: BACKENDS }),
      option("--apiKey <key>", "the server's key"),
      option("--requests <n>", "how many", "64", ONE),
      option("--rate <n>", "requests a second, or inf", "inf", { amount: "endless" }),
      option("--concurrency <n>", "most open at once", "no limit", ONE),
      ...LENGTHS,
      option("--seed <n>", "of prompts and arrivals", "1", ONE),
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
