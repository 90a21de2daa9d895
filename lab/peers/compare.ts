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
import { timingOf, tokensWithin, type Timing } from "./timing.ts";
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
  /** [the pace's] */
  readonly rounds: number | null;
  readonly say: (line: string) => void;
}

export type Comparison = Awaited<ReturnType<typeof compare>>;
export type EngineResult = ReturnType<typeof resultOf>;
export type LoadResult = EngineResult["loads"][number];

/** Otherwise the browser waits for a collection of garbage. */
const MEASURES_MEMORY = ["--enable-blink-features=ForceEagerMeasureMemory"];
const LEAST_TOKENS = 8;
/** Shaders are compiled at the first prompt and at the first token after it. */
const WARM_UP_TOKENS = 2;
const TRIAL_TOKENS = 6;
const LOAD_TIMEOUT_MS = 180_000;

/** A run's limits: tokens of an answer, rounds, and the time after which an answer is made shorter or aborted. */
interface Pace {
  readonly newTokens: number;
  readonly rounds: number;
  readonly budgetMs: number;
  readonly timeoutMs: number;
}

const FULL: Pace = { newTokens: 64, rounds: 3, budgetMs: 30_000, timeoutMs: 300_000 };
const QUICK: Pace = { newTokens: 32, rounds: 1, budgetMs: 10_000, timeoutMs: 300_000 };

/** Prompts of each requested length, as many as run at once. */
type PromptSet = ReadonlyMap<number, readonly Prompt[]>;

export async function compare(options: CompareOptions) {
  const { executablePath, adapter, model, isQuick, place, gguf } = options;
  const large = isLarge(model.numParameters);
  const basePace = isQuick ? QUICK : FULL;
  const pace = large ? { ...basePace, newTokens: basePace.newTokens / 2 } : basePace;
  const { contenders, mostSequences } = listContenders({
    place,
    newTokens: pace.newTokens,
    isLarge: large,
    gguf,
    maxPositions: model.maxPositions,
  });
  const prompts: PromptSet = new Map([
    [PROMPT_TOKENS, makePrompts(model.tokenizer, mostSequences, PROMPT_TOKENS)],
    ...longPromptsOf(contenders).map((length) => [length, makePrompts(model.tokenizer, 1, length)] as const),
  ]);
  const browser = await launchChromium(executablePath, { on: adapter, minutes: 240, args: MEASURES_MEMORY });
  const engines: Engine[] = [];
  try {
    for (const contender of contenders) {
      engines.push(await prepare(browser, contender, engines[0]?.reference ?? null, prompts, pace, options));
    }
    await measureInRounds(engines, prompts, { ...pace, rounds: options.rounds ?? pace.rounds }, options.say);
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

function longPromptsOf(contenders: readonly Contender[]): number[] {
  const lengths = contenders.flatMap(({ loads }) => loads.flatMap(({ promptTokens }) => promptTokens ?? []));
  return [...new Set(lengths)];
}

/** A contender's state in the run. */
interface Engine {
  readonly contender: Contender;
  page: EnginePage | null;
  failure: string | null;
  downloadBytes: number | null;
  memoryBytes: number | null;
  readonly reference: readonly (readonly number[])[] | null;
  readonly tokens: TokenCheck | null;
  readonly loads: { readonly load: Load; readonly newTokens: number; readonly runs: Timing[] }[];
}

const NOTHING_YET = {
  page: null,
  failure: null,
  downloadBytes: null,
  memoryBytes: null,
  reference: null,
  tokens: null,
} as const;

/** Loads an engine, warms it up in every way it will be called, and compares its tokens. */
async function prepare(
  browser: Browser,
  contender: Contender,
  reference: Engine["reference"],
  prompts: PromptSet,
  pace: Pace,
  { url, say, modelBytes }: CompareOptions,
): Promise<Engine> {
  const title = titleOf(contender);
  const engine: Engine = { contender, ...NOTHING_YET, loads: [] };
  const bytesBefore = modelBytes();
  try {
    const page = await openEnginePage(browser, url, contender.page, LOAD_TIMEOUT_MS);
    engine.page = page;
    engine.downloadBytes = modelBytes() - bytesBefore;
    for (const load of contender.loads) {
      const newTokens = await tryOut(page, load, prompts, pace);
      engine.loads.push({ load, newTokens, runs: [] });
    }
    const sequences = prompts.get(PROMPT_TOKENS)?.length ?? 0;
    const all = { way: contender.loads[0]?.way ?? "at once", sequences } as const;
    const newTokens = Math.min(...engine.loads.filter(({ load }) => !load.promptTokens).map((load) => load.newTokens));
    const answers = await ask(page, all, prompts, newTokens, true, pace);
    const tokenIds = answers.map((answer) => answer.tokenIds);
    engine.memoryBytes = await page.memoryBytes();
    const tokens = reference && checkTokens(reference, tokenIds);
    say(`${title}: loaded in ${seconds(page.loadMs)}; ${tokens ? tokensLine(tokens) : "its tokens are the reference"}`);
    return { ...engine, reference: reference ?? tokenIds, tokens };
  } catch (error) {
    await giveUp(engine, error, say);
    if (reference === null) throw error;
    return { ...engine, reference };
  }
}

/** Warms an engine up, and finds how many tokens it makes in the available time. */
async function tryOut(page: EnginePage, load: Load, prompts: PromptSet, pace: Pace): Promise<number> {
  const startMs = performance.now();
  await ask(page, load, prompts, WARM_UP_TOKENS, false, pace);
  if (load.newTokens) return load.newTokens;
  if (performance.now() - startMs > pace.budgetMs) return LEAST_TOKENS;
  return tokensWithin(
    pace.budgetMs,
    await ask(page, load, prompts, TRIAL_TOKENS, false, pace),
    LEAST_TOKENS,
    pace.newTokens,
  );
}

/** Runs round by round, so that other load on the machine affects all of them. */
async function measureInRounds(
  engines: readonly Engine[],
  prompts: PromptSet,
  pace: Pace,
  say: CompareOptions["say"],
): Promise<void> {
  for (let round = 1; round <= pace.rounds; round++) {
    say(`Round ${round} of ${pace.rounds}`);
    for (const engine of engines) {
      for (const { load, newTokens, runs } of engine.loads) {
        if (!engine.page) break;
        try {
          const timing = timingOf(await ask(engine.page, load, prompts, newTokens, false, pace));
          runs.push(timing);
          const title = `  ${titleOf(engine.contender)}: ${load.sequences} ${load.way}`;
          if (load.promptTokens) say(`${title}, ${load.promptTokens} tokens: ${timing.meanTtftMs.toFixed(0)} ms`);
          else say(`${title}, ${newTokens} tokens: ${timing.decodeTokensPerSecond.toFixed(2)} tok/s`);
        } catch (error) {
          await giveUp(engine, error, say);
        }
      }
    }
  }
}

function ask(
  page: EnginePage,
  { way, sequences, promptTokens = PROMPT_TOKENS }: Load,
  prompts: PromptSet,
  maxTokens: number,
  withTokenIds: boolean,
  { timeoutMs }: Pace,
): Promise<Answer[]> {
  const batch = prompts.get(promptTokens)?.slice(0, sequences) ?? [];
  return page.generate({ prompts: batch, maxTokens, way, withTokenIds }, timeoutMs);
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
    loads: measured.map(({ load, newTokens, runs }) => ({ ...load, newTokens, timing: mediansOf(runs), runs })),
  };
}

function titleOf({ name, how }: Pick<Contender, "name" | "how">): string {
  return `${name} (${how})`;
}

export function tokensLine({ answers, sameAnswers, tokensEach, firstDifferences }: TokenCheck): string {
  const all = `${sameAnswers} of ${answers} answers of ${tokensEach} tokens are the same`;
  return firstDifferences.length === 0 ? all : `${all}, the others up to token ${firstDifferences.join(", ")}`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
