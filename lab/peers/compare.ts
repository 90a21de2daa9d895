// The comparison: every engine has its own page in one Chromium, and they take turns.

import type { Browser } from "playwright";

import type { Adapter } from "../../tools/browsers/chromium-flags.mjs";
import { launchChromium } from "../../tools/launch-chromium.mjs";
import { mediansOf } from "../statistics.ts";
import { isLarge, type PreparedModel } from "./prepare-model.ts";
import type { Quantisation } from "./quantise.ts";
import { listContenders, PROMPT_TOKENS, type Contender, type Load, type Place } from "./contenders.ts";
import { openEnginePage, type Answer, type EnginePage, type Prompt } from "./engine-page.ts";
import { makePrompts } from "./prompts.ts";
import { timingOf, type Timing } from "./timing.ts";
import { checkTokens, type TokenCheck } from "./token-check.ts";

interface CompareOptions {
  readonly executablePath: string;
  readonly place: Place;
  readonly adapter: Adapter;
  readonly url: string;
  readonly model: PreparedModel;
  readonly gguf: Quantisation | undefined;
  /** Returns the bytes of the model that pages have got so far. */
  readonly modelBytes: () => number;
  readonly isQuick: boolean;
  /** [3; quick: 1] */
  readonly rounds: number | null;
  readonly say: (line: string) => void;
}

export type Comparison = Awaited<ReturnType<typeof compare>>;
export type EngineResult = ReturnType<typeof resultOf>;
export type LoadResult = EngineResult["loads"][number];

/** Otherwise the browser waits for a collection of garbage. */
const MEASURES_MEMORY = ["--enable-blink-features=ForceEagerMeasureMemory"];
/** Shaders are compiled at the first prompt and at the first token after it. */
const WARM_UP_TOKENS = 2;
const LOAD_TIMEOUT_MS = 180_000;
const ANSWER_TIMEOUT_MS = 600_000;

/** Prompts of each requested length, as many as run at once. */
type PromptSet = ReadonlyMap<number, readonly Prompt[]>;

export async function compare(options: CompareOptions) {
  const { executablePath, adapter, model, isQuick, place, gguf } = options;
  const large = isLarge(model.numParameters);
  const newTokens = (isQuick ? 32 : 64) / (large ? 2 : 1);
  const contenders = listContenders({ place, newTokens, isLarge: large, gguf, maxPositions: model.maxPositions });
  const loads = contenders.flatMap((contender) => contender.loads);
  const lengths = new Set(loads.map(({ promptTokens = PROMPT_TOKENS }) => promptTokens));
  const prompts: PromptSet = new Map(
    [...lengths].map((length) => {
      const ofLength = loads.filter(({ promptTokens = PROMPT_TOKENS }) => promptTokens === length);
      const most = Math.max(...ofLength.map(({ sequences }) => sequences));
      return [length, makePrompts(model.tokenizer, most, length)];
    }),
  );
  const browser = await launchChromium(executablePath, { on: adapter, minutes: 240, args: MEASURES_MEMORY });
  const engines: Engine[] = [];
  try {
    for (const contender of contenders) {
      engines.push(await prepare(browser, contender, engines[0]?.reference ?? null, prompts, options));
    }
    await measureInRounds(engines, prompts, options.rounds ?? (isQuick ? 1 : 3), options.say);
    // For example, the browser itself has ended. The report keeps the previous run.
    const failure = engines[0]?.failure;
    if (failure) throw new Error(`The reference can't be measured: ${failure}`);
    return {
      browser: browser.version(),
      adapter: place === "cpu" ? "the CPU" : ((await engines[0]?.page?.describeAdapter()) ?? "unknown"),
      promptTokens: PROMPT_TOKENS,
      engines: engines.map((engine) => resultOf(engine)),
    };
  } finally {
    await browser.close();
  }
}

interface Engine {
  readonly contender: Contender;
  page: EnginePage | null;
  failure: string | null;
  downloadBytes: number | null;
  memoryBytes: number | null;
  reference: readonly (readonly number[])[] | null;
  tokens: TokenCheck | null;
  readonly loads: { readonly load: Load; readonly runs: Timing[] }[];
}

/** Loads an engine, warms it up in every way it will be called, and compares its tokens. */
async function prepare(
  browser: Browser,
  contender: Contender,
  reference: Engine["reference"],
  prompts: PromptSet,
  { url, say, modelBytes }: CompareOptions,
): Promise<Engine> {
  const title = titleOf(contender);
  const nothingYet = { page: null, failure: null, downloadBytes: null, memoryBytes: null, tokens: null };
  const engine: Engine = { contender, ...nothingYet, reference, loads: [] };
  const bytesBefore = modelBytes();
  try {
    const page = await openEnginePage(browser, url, contender.page, LOAD_TIMEOUT_MS);
    engine.page = page;
    engine.downloadBytes = modelBytes() - bytesBefore;
    for (const load of contender.loads) {
      await ask(page, { ...load, newTokens: WARM_UP_TOKENS }, prompts);
      engine.loads.push({ load, runs: [] });
    }
    const [first] = contender.loads;
    const all = { way: first?.way ?? "at once", newTokens: first?.newTokens ?? 0, sequences: Infinity };
    const tokenIds = (await ask(page, all, prompts, true)).map((answer) => answer.tokenIds);
    engine.memoryBytes = await page.memoryBytes();
    engine.tokens = reference && checkTokens(reference, tokenIds);
    engine.reference ??= tokenIds;
    const same = engine.tokens ? tokensLine(engine.tokens) : "its tokens are the reference";
    say(`${title}: loaded in ${(page.loadMs / 1000).toFixed(1)} s; ${same}`);
  } catch (error) {
    await giveUp(engine, error, say);
    if (reference === null) throw error;
  }
  return engine;
}

/** Runs round by round, so that other load on the machine affects all of them. */
async function measureInRounds(
  engines: readonly Engine[],
  prompts: PromptSet,
  rounds: number,
  say: CompareOptions["say"],
): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    say(`Round ${round} of ${rounds}`);
    for (const engine of engines) {
      for (const { load, runs } of engine.loads) {
        if (!engine.page) break;
        try {
          const timing = timingOf(await ask(engine.page, load, prompts));
          runs.push(timing);
          const title = `  ${titleOf(engine.contender)}: ${load.sequences} ${load.way}`;
          if (load.promptTokens) say(`${title}, ${load.promptTokens} tokens: ${timing.meanTtftMs.toFixed(0)} ms`);
          else say(`${title}, ${load.newTokens} tokens: ${timing.decodeTokensPerSecond.toFixed(2)} tok/s`);
        } catch (error) {
          await giveUp(engine, error, say);
        }
      }
    }
  }
}

function ask(
  page: EnginePage,
  { way, sequences, promptTokens = PROMPT_TOKENS, newTokens }: Load,
  prompts: PromptSet,
  withTokenIds = false,
): Promise<Answer[]> {
  const batch = prompts.get(promptTokens)?.slice(0, sequences) ?? [];
  return page.generate({ prompts: batch, maxTokens: newTokens, way, withTokenIds }, ANSWER_TIMEOUT_MS);
}

async function giveUp(engine: Engine, error: unknown, say: CompareOptions["say"]): Promise<void> {
  engine.failure = (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
  say(`${titleOf(engine.contender)}: ${engine.failure}`);
  await engine.page?.close();
  engine.page = null;
}

function resultOf({ contender: { name, how, against }, page, failure, tokens, loads, ...bytes }: Engine) {
  const measured = loads.filter(({ runs }) => runs.length > 0);
  return {
    name,
    how,
    /** `how` of the Chorus that it is compared with. */
    against,
    /** Why it was left out; null if it was not. */
    failure,
    loadMs: page?.loadMs ?? null,
    threads: page?.threads ?? null,
    /** Of the model's files, as sent. */
    downloadBytes: bytes.downloadBytes,
    /** Of the page and its workers when it has answered; what a GPU holds is not in it. */
    memoryBytes: bytes.memoryBytes,
    /** Comparison with the reference; null for the reference itself. */
    tokens,
    /** Of `timing` the medians. */
    loads: measured.map(({ load, runs }) => ({ ...load, timing: mediansOf(runs), runs })),
  };
}

function titleOf({ name, how }: Pick<Contender, "name" | "how">): string {
  return `${name} (${how})`;
}

export function tokensLine({ answers, sameAnswers, tokensEach, firstDifferences }: TokenCheck): string {
  const all = `${sameAnswers} of ${answers} answers of ${tokensEach} tokens are the same`;
  return firstDifferences.length === 0 ? all : `${all}, the others up to token ${firstDifferences.join(", ")}`;
}
