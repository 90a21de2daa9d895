// The comparison: every engine has its own page in one Chromium, and they take turns.

import { chromium, type Browser } from "playwright";

import { chromiumFlags, type Adapter } from "../chromium-flags.mjs";
import type { PreparedModel } from "./prepare-model.ts";
import { CHORUS, listContenders, REFERENCE, type Contender, type Load } from "./contenders.ts";
import { EnginePage, type Answer, type Prompt } from "./engine-page.ts";
import { makePrompts } from "./prompts.ts";
import { medianTiming, timingOf, tokensWithin, type Timing } from "./timing.ts";
import { checkTokens, type TokenCheck } from "./token-check.ts";

interface CompareOptions {
  readonly executablePath: string;
  readonly adapter: Adapter;
  readonly url: string;
  readonly model: PreparedModel;
  readonly isQuick: boolean;
  readonly say: (line: string) => void;
}

export interface EngineResult {
  readonly name: string;
  readonly how: string;
  /** Why it was left out; null if it was not. */
  readonly failure: string | null;
  readonly loadMs: number | null;
  readonly threads: number | null;
  /** Against the reference; null for the reference itself. */
  readonly tokens: TokenCheck | null;
  readonly loads: readonly LoadResult[];
}

export interface LoadResult extends Load {
  readonly newTokens: number;
  /** Medians. */
  readonly timing: Timing;
  readonly runs: readonly Timing[];
}

export interface Comparison {
  readonly browser: string;
  readonly adapter: string;
  readonly promptTokens: number;
  readonly engines: readonly EngineResult[];
}

const PROMPT_TOKENS = 32;
const NUM_PROMPTS = 8;
const LEAST_TOKENS = 8;
/** Shaders are compiled at the first prompt and at the first token after it. */
const WARM_UP_TOKENS = 2;
const TRIAL_TOKENS = 6;
const LOAD_TIMEOUT_MS = 180_000;

/** What a run may take: tokens of an answer, rounds, and the time after which an answer is made shorter or given up. */
interface Pace {
  readonly newTokens: number;
  readonly rounds: number;
  readonly budgetMs: number;
  readonly timeoutMs: number;
}

const FULL: Pace = { newTokens: 64, rounds: 3, budgetMs: 30_000, timeoutMs: 300_000 };
const QUICK: Pace = { newTokens: 32, rounds: 1, budgetMs: 10_000, timeoutMs: 300_000 };

export async function compare(options: CompareOptions): Promise<Comparison> {
  const { executablePath, adapter, model, isQuick } = options;
  const pace = isQuick ? QUICK : FULL;
  const prompts = makePrompts(model.tokenizer, NUM_PROMPTS, PROMPT_TOKENS);
  const browser = await chromium.launch({ executablePath, args: chromiumFlags(adapter) });
  const engines: Engine[] = [];
  try {
    for (const contender of listContenders(PROMPT_TOKENS + pace.newTokens)) {
      engines.push(await prepare(browser, contender, engines[0]?.reference ?? null, prompts, pace, options));
    }
    await measureInRounds(engines, prompts, pace, options.say);
    return {
      browser: browser.version(),
      adapter: (await engines[0]?.page?.describeAdapter()) ?? "unknown",
      promptTokens: PROMPT_TOKENS,
      engines: engines.map((engine) => resultOf(engine)),
    };
  } finally {
    await browser.close();
  }
}

/** A contender on the way through the run. */
interface Engine {
  readonly contender: Contender;
  page: EnginePage | null;
  failure: string | null;
  readonly reference: readonly (readonly number[])[] | null;
  readonly tokens: TokenCheck | null;
  readonly loads: { readonly load: Load; readonly newTokens: number; readonly runs: Timing[] }[];
}

/** Loads it, warms it up in every way it will be asked, and compares its tokens. */
async function prepare(
  browser: Browser,
  contender: Contender,
  reference: Engine["reference"],
  prompts: readonly Prompt[],
  pace: Pace,
  { url, say }: CompareOptions,
): Promise<Engine> {
  const title = titleOf(contender);
  const engine: Engine = { contender, page: null, failure: null, reference: null, tokens: null, loads: [] };
  try {
    const page = await EnginePage.open(browser, url, contender.page, LOAD_TIMEOUT_MS);
    engine.page = page;
    for (const load of contender.loads) {
      const newTokens = await tryOut(page, load, prompts, pace);
      engine.loads.push({ load, newTokens, runs: [] });
    }
    const all = { way: contender.loads[0]?.way ?? "at once", sequences: NUM_PROMPTS } as const;
    const newTokens = Math.min(...engine.loads.map((load) => load.newTokens));
    const answers = await ask(page, all, prompts, newTokens, true, pace);
    const tokenIds = answers.map((answer) => answer.tokenIds);
    const tokens = reference && checkTokens(reference, tokenIds);
    say(`${title}: loaded in ${seconds(page.loadMs)}; ${tokens ? tokensLine(tokens) : "its tokens are the reference"}`);
    return { ...engine, reference: reference ?? tokenIds, tokens };
  } catch (error) {
    await giveUp(engine, error, say);
    if (contender === REFERENCE) throw error;
    return { ...engine, reference };
  }
}

/** Warms an engine up, and finds how many tokens it makes in the time there is. Where two take that long, a few must do. */
async function tryOut(page: EnginePage, load: Load, prompts: readonly Prompt[], pace: Pace): Promise<number> {
  const startMs = performance.now();
  await ask(page, load, prompts, WARM_UP_TOKENS, false, pace);
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
  prompts: readonly Prompt[],
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
          const rate = timing.decodeTokensPerSecond.toFixed(2);
          say(`  ${titleOf(engine.contender)}: ${load.sequences} ${load.way}, ${newTokens} tokens: ${rate} tok/s`);
        } catch (error) {
          await giveUp(engine, error, say);
        }
      }
    }
  }
}

function ask(
  page: EnginePage,
  { way, sequences }: Load,
  prompts: readonly Prompt[],
  maxTokens: number,
  withTokenIds: boolean,
  { timeoutMs }: Pace,
): Promise<Answer[]> {
  return page.generate({ prompts: prompts.slice(0, sequences), maxTokens, way, withTokenIds }, timeoutMs);
}

async function giveUp(engine: Engine, error: unknown, say: CompareOptions["say"]): Promise<void> {
  engine.failure = (error instanceof Error ? error.message : String(error)).split("\n")[0] ?? "";
  say(`${titleOf(engine.contender)}: ${engine.failure}`);
  await engine.page?.close();
  engine.page = null;
}

function resultOf({ contender: { name, how }, page, failure, tokens, loads }: Engine): EngineResult {
  const measured = loads.filter(({ runs }) => runs.length > 0);
  return {
    name,
    how,
    failure,
    loadMs: page?.loadMs ?? null,
    threads: page?.threads ?? null,
    tokens,
    loads: measured.map(({ load, newTokens, runs }) => ({ ...load, newTokens, timing: medianTiming(runs), runs })),
  };
}

/** Returns whether a row is Chorus with default settings, with which the others are compared. */
export function isChorus({ name, how }: Pick<EngineResult, "name" | "how">): boolean {
  return name === CHORUS.name && how === CHORUS.how;
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
