import { randomId } from "../../../index.ts";
import { answerEnded } from "../chat/answer-ended.ts";
import { Pane, type PaneContext } from "../chat/pane.ts";
import { requestName } from "../chat/request-name.ts";
import { FIGURES_INTERVAL_MS } from "../batch/batch-metrics.ts";
import { Connections, NO_CONNECTIONS } from "../connections/connections.ts";
import type { Serving } from "../engine/serving.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import { ticker } from "../ticker.ts";

const DEMO_QUESTIONS = [
  "Tell me a story about a purple octopus",
  "Write a poem about the sea",
  "How do I cook rice?",
  "Tell me a story about a robot",
  "Why is the sky blue?",
  "Tell me a joke",
  "Write a poem about winter",
  "Tell me a story about a fox",
  "Write a poem about the moon",
  "How do I make tea?",
  "Tell me a story about a mouse",
  "Why do leaves fall?",
  "Tell me a bedtime story about a bear",
  "How do I bake bread?",
  "Write a poem about autumn",
  "Tell me a story about a dragon",
] as const;

/** How many of them are asked: as one begins, and in the second row of panes, too. */
export type DemoSize = 8 | 16;

export const SIZES_IN_WORDS: Readonly<Record<DemoSize, string>> = { 8: "eight", 16: "sixteen" };

/** Fixed, so that both runs compute the same tokens. */
const DEMO_SETTINGS = { seed: 8, max_tokens: 64 };

/** One run over all questions. */
export interface DemoRun {
  readonly status: "waiting" | "running" | "done";
  /** Time from the first question to the end of the last answer, by the page's clock; elapsed time while it runs. */
  readonly elapsedMs: number;
  readonly answers: readonly string[];
}

export interface DemoState {
  /** failed: the engine died, or an answer ended with an error. */
  readonly phase: "closed" | "running" | "done" | "failed";
  readonly size: DemoSize;
  /** Panes 1 to 8, or 16, of the shown run, one question each. */
  readonly panes: readonly Pane[];
  readonly together: DemoRun;
  readonly apart: DemoRun;
}

interface DemoContext extends PaneContext {
  readonly serving: Pick<Serving, "lockMode">;
  /** The page's clock, milliseconds. */
  readonly now: () => number;
}

/** Tokens per question before the first run: an adapter is slow at its first steps. */
const WARM_UP_TOKENS = 4;

const NOT_RUN: DemoRun = { status: "waiting", elapsedMs: 0, answers: [] };
const CLOSED: DemoState = { phase: "closed", size: 8, panes: [], together: NOT_RUN, apart: NOT_RUN };

/**
 * Asks eight questions at once, or sixteen, then the same ones one after the other, and measures both times. It has its own panes
 * and leaves the person's alone. A short warm-up comes first, so that neither run pays for the start and both find the
 * same blocks of their prompts in the cache.
 */
export class Demo {
  readonly #store = createStore<DemoState>(() => CLOSED);
  readonly store: ReadonlyStore<DemoState> = this.#store;
  readonly #context: DemoContext;
  readonly #paneContext: PaneContext;
  /** Ends the newest start. */
  #leaving = new AbortController();
  /** Updates the figures while a run is in progress. */
  readonly #wake = ticker(FIGURES_INTERVAL_MS, () => {
    for (const pane of this.#running ? this.#store.getState().panes : []) pane.refreshFigures();
    this.#show("running");
    return this.#running !== null;
  });
  #running: { readonly key: "together" | "apart"; readonly startMs: number } | null = null;

  constructor(context: DemoContext) {
    this.#context = context;
    const settings = createStore(() => ({}));
    const addressSettings = { ...DEMO_SETTINGS, ...context.addressSettings };
    // No server answers in the demo, however long the queue is.
    const connections = new Connections({ observer: context.requestStats }, NO_CONNECTIONS);
    // Only the result is announced: sixteen answers would be noise.
    this.#paneContext = { ...context, connections, settings, addressSettings, announce: () => {} };
  }

  async start(size: DemoSize = this.store.getState().size): Promise<void> {
    this.#leave();
    const { signal } = (this.#leaving = new AbortController());
    const { serving, announce } = this.#context;
    this.#store.setState({ ...CLOSED, size, phase: "running" }, true);
    serving.lockMode("continuous");
    await this.#warmUp(signal);
    for (const key of ["together", "apart"] as const) {
      if (signal.aborted) return;
      serving.lockMode(key === "together" ? "continuous" : "sequential");
      // oxlint-disable-next-line no-await-in-loop -- one run after the other is the point
      const succeeded = await this.#run(key, signal);
      if (signal.aborted) return;
      if (!succeeded) {
        this.#leave();
        this.#store.setState({ phase: "failed" });
        return;
      }
    }
    serving.lockMode(null);
    this.#store.setState({ phase: "done" });
    announce(demoResult(this.#store.getState()));
  }

  close(): void {
    this.#leave();
    this.#store.setState(CLOSED, true);
  }

  get #questions(): readonly string[] {
    return DEMO_QUESTIONS.slice(0, this.store.getState().size);
  }

  async #warmUp(signal: AbortSignal): Promise<void> {
    const state = this.#context.engine.store.getState();
    if (state.status !== "ready") return;
    const { completions } = state.engine.chat;
    const ask = async (content: string, index: number) => {
      const messages = [{ role: "user" as const, content }];
      // Named after the panes, so that the timeline shows each question on one line.
      const request_id = requestName({ pane: index + 1, turn: 0 }, randomId());
      const body = { messages, max_tokens: WARM_UP_TOKENS, stream: true, request_id } as const;
      const chunks = await completions.create(body, { signal });
      for await (const _ of chunks);
    };
    // An error here happens in the first run again, which reports it.
    await Promise.allSettled(this.#questions.map(ask));
  }

  /** Resolves with whether all answers finished. */
  async #run(key: "together" | "apart", signal: AbortSignal): Promise<boolean> {
    for (const pane of this.#store.getState().panes) pane.close();
    const questions = this.#questions;
    const panes = questions.map((_, index) => new Pane(index + 1, this.#paneContext));
    this.#running = { key, startMs: this.#context.now() };
    this.#wake();
    this.#store.setState({ panes });
    const ends = panes.map((pane, index) => {
      pane.send(questions[index] ?? "");
      return answerEnded(pane);
    });
    const succeeded = (await Promise.all(ends)).every(Boolean);
    if (signal.aborted) return false;
    for (const pane of panes) pane.refreshFigures();
    this.#show("done");
    this.#running = null;
    return succeeded;
  }

  #show(status: DemoRun["status"]): void {
    if (this.#running === null) return;
    const { key, startMs } = this.#running;
    const states = this.#store.getState().panes.map((pane) => pane.store.getState());
    const run: DemoRun = {
      status,
      elapsedMs: this.#context.now() - startMs,
      answers: states.map(({ turns }) => turns.at(-1)?.answer ?? ""),
    };
    this.#store.setState(key === "together" ? { together: run } : { apart: run });
  }

  /** Stops the run in progress and restores the batching mode. */
  #leave(): void {
    this.#leaving.abort();
    for (const pane of this.#store.getState().panes) pane.close();
    this.#context.serving.lockMode(null);
    this.#running = null;
  }
}

/** Returns how many times as fast the first run is, to one decimal. */
export function speedup(first: DemoRun, second: DemoRun): string {
  return (second.elapsedMs / first.elapsedMs).toFixed(1);
}

export function sameAnswers(first: DemoRun, second: DemoRun): number {
  return first.answers.filter((answer, index) => answer === second.answers[index]).length;
}

export function demoResult({ size, together, apart }: DemoState): string {
  const same = sameAnswers(together, apart);
  const asLongAs = ((size * together.elapsedMs) / apart.elapsedMs).toFixed(1);
  const kept =
    same === size
      ? "Exactly the same answers both times."
      : `Only ${same} answers are the same both times, which is a bug.`;
  return `All ${SIZES_IN_WORDS[size]} together took only as long as ${asLongAs} of them one after the other. ${kept}`;
}
