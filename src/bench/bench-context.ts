import type { EngineConfig, ModelSource } from "../protocol/config.ts";
import type { ChorusEngine, CreateEngineOptions } from "../protocol/engine.ts";
import type { ModelCard } from "../protocol/reports.ts";
import type { BenchOptions, SectionId } from "./bench-options.ts";
import type { SectionResult } from "./bench-result.ts";
import { randomIntegers, seededRandom, type Random } from "./seeded-random.ts";

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

  /**
   * Measures each case once for nothing, so that everything is compiled and warm, and then in rounds, one case after the
   * other: what disturbs the machine for a while disturbs all of them. Gives each case's outcomes.
   */
  async interleave<Case, Outcome>(
    cases: readonly Case[],
    name: (one: Case) => string,
    measure: (one: Case) => Promise<Outcome>,
    rounds = this.options.repeats,
  ): Promise<{ readonly of: Case; readonly outcomes: readonly Outcome[] }[]> {
    const measured = cases.map((one) => ({ of: one, outcomes: [] as Outcome[] }));
    for (let round = 0; round <= rounds; round++) {
      for (const [i, { of, outcomes }] of measured.entries()) {
        this.signal.throwIfAborted();
        const what = round === 0 ? "warming up" : `round ${round} of ${rounds}`;
        this.progress((round * cases.length + i) / ((rounds + 1) * cases.length), `${name(of)}, ${what}`);
        const outcome = await measure(of);
        if (round > 0) outcomes.push(outcome);
      }
    }
    return measured;
  }
}
