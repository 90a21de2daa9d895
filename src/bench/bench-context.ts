import type { EngineConfig, ModelSource } from "../protocol/config.ts";
import type { ChorusEngine, CreateEngineOptions } from "../protocol/engine.ts";
import type { ModelCard } from "../protocol/reports.ts";
import type { BenchOptions, SectionId } from "./bench-options.ts";
import type { SectionResult } from "./report/bench-result.ts";
import { randomIntegers, seededRandom, type Random } from "./seeded-random.ts";

/** What the rounds of one comparison may take, where one round leaves the choice. */
const MOST_MS = 60_000;

export type CreateEngine = (options: CreateEngineOptions) => Promise<ChorusEngine>;

/** One thing that is measured. */
export interface Section {
  readonly id: SectionId;
  readonly title: string;
  /** What is done, in a sentence. */
  readonly about: string;
  readonly run: (context: BenchContext) => Promise<SectionResult>;
}

export interface BenchContextParts {
  readonly options: BenchOptions;
  readonly createEngine: CreateEngine;
  readonly source: ModelSource;
  readonly model: ModelCard;
  readonly signal: AbortSignal;
  /** `share` of the section, 0..1. */
  readonly onProgress: (share: number, what: string) => void;
}

/** What a section works with. Engines it opens are closed after it. */
export class BenchContext {
  readonly options: BenchOptions;
  readonly model: ModelCard;
  readonly source: ModelSource;
  readonly signal: AbortSignal;
  readonly random: Random;
  readonly progress: (share: number, what: string) => void;
  readonly #createEngine: CreateEngine;
  readonly #engines: ChorusEngine[] = [];
  readonly #notes = new Set<string>();

  constructor({ options, createEngine, source, model, signal, onProgress }: BenchContextParts) {
    this.options = options;
    this.model = model;
    this.source = source;
    this.signal = signal;
    this.random = seededRandom(options.seed);
    this.progress = onProgress;
    this.#createEngine = createEngine;
  }

  /** An engine of the model under test, in the options' dtype, or of another model. */
  async openEngine(
    config: EngineConfig & Pick<CreateEngineOptions, "onProgress"> = {},
    model: ModelSource = this.source,
  ): Promise<ChorusEngine> {
    this.signal.throwIfAborted();
    const { dtype, seed } = this.options;
    const engine = await this.#createEngine({ ...(dtype && { dtype }), seed, ...config, model });
    this.#engines.push(engine);
    return engine;
  }

  async closeEngine(engine: ChorusEngine): Promise<void> {
    this.#engines.splice(this.#engines.indexOf(engine), 1);
    await engine.dispose();
  }

  async closeEngines(): Promise<void> {
    await Promise.all(this.#engines.splice(0).map((engine) => engine.dispose()));
  }

  /** Random token ids, other ones at each call: no prompt is found in the prefix cache unless it is meant to be. */
  prompt(tokens: number): number[] {
    return randomIntegers(this.random, tokens, 0, this.model.vocabSize - 2);
  }

  /** What to know of the section's figures besides what it says itself. */
  get notes(): readonly string[] {
    return [...this.#notes];
  }

  /**
   * Measures each case once for nothing, so that everything is compiled and warm, and then in rounds, one case after
   * the other: what disturbs the machine for a while disturbs all of them. Gives each case's outcomes, one a round: as
   * many as the options ask for, fewer where they would take longer than anybody waits, but at least one.
   */
  async interleave<Case, Outcome>(
    cases: readonly Case[],
    name: (one: Case) => string,
    measure: (one: Case) => Promise<Outcome>,
    progress = this.progress,
  ): Promise<{ readonly of: Case; readonly outcomes: readonly Outcome[] }[]> {
    const measured = cases.map((one) => ({ of: one, outcomes: [] as Outcome[] }));
    const rounds = this.options.repeats;
    let startMs = performance.now();
    for (let round = 0; round <= rounds; round++) {
      if (round === 1) startMs = performance.now();
      const spentMs = performance.now() - startMs;
      if (round > 1 && (spentMs / (round - 1)) * round > MOST_MS) {
        this.#notes.add(`${round - 1} of ${rounds} rounds: more would have taken over ${MOST_MS / 1000} seconds.`);
        break;
      }
      for (const [i, { of, outcomes }] of measured.entries()) {
        this.signal.throwIfAborted();
        const what = round === 0 ? "warming up" : `round ${round} of ${rounds}`;
        progress((round * cases.length + i) / ((rounds + 1) * cases.length), `${name(of)}, ${what}`);
        const outcome = await measure(of);
        if (round > 0) outcomes.push(outcome);
      }
    }
    return measured;
  }
}
