import type { EngineConfig, ModelSource } from "../../src/protocol/config.ts";
import type { ChorusEngine, CreateEngineOptions } from "../../src/protocol/engine.ts";
import type { ModelCard } from "../../src/protocol/reports.ts";
import type { BenchOptions } from "./bench-options.ts";
import type { MeasureKernels } from "../kernels/measure-in-worker.ts";
import type { NamedSectionResult, SectionFindings } from "../report/bench-result.ts";
import { randomIntegers, seededRandom, type Random } from "../seeded-random.ts";

export type CreateEngine = (options: CreateEngineOptions) => Promise<ChorusEngine>;

/** One benchmark section; SECTIONS has its title. */
export interface Section {
  readonly about: string;
  /** Whether it measures kernels and buffers of WebGPU: left out on the CPU. [false] */
  readonly needsWebGpu?: boolean;
  readonly run: (context: BenchContext) => Promise<SectionFindings>;
}

/** A section, or a part of a run on a GPU, with its name in reports. */
export type NamedSection = Pick<Section, "about" | "run"> & { readonly id: string; readonly title: string };

export interface BenchContextParts {
  readonly options: BenchOptions;
  readonly createEngine: CreateEngine;
  readonly source: ModelSource;
  /** The model that drafts for it. */
  readonly draftSource: ModelSource;
  /** null if no section measures a model. */
  readonly model: ModelCard | null;
  readonly measureKernels: MeasureKernels;
  readonly signal: AbortSignal;
  /** Most time for the section: it then has fewer rounds, and leaves out its last cases. [no limit] */
  readonly budgetMs?: number;
  /** Most time for the rounds of one comparison; one round always runs. [a minute] */
  readonly mostMs?: number;
  /** `share` is that of the section, 0..1. */
  readonly onProgress: (share: number, what: string) => void;
}

interface InterleaveOptions {
  /** Progress within the section. [the whole of it] */
  readonly progress?: (share: number, what: string) => void;
  readonly mostMs?: number | undefined;
}

/** The tools of a section. Engines that it opens are disposed after it. */
export class BenchContext {
  readonly options: BenchOptions;
  readonly source: ModelSource;
  readonly draftSource: ModelSource;
  readonly signal: AbortSignal;
  readonly random: Random;
  readonly measureKernels: MeasureKernels;
  readonly progress: (share: number, what: string) => void;
  readonly #parts: BenchContextParts;
  readonly #engines: ChorusEngine[] = [];
  readonly #notes = new Set<string>();
  readonly #endMs: number;

  constructor(parts: BenchContextParts) {
    const { options, source, draftSource, signal, onProgress } = parts;
    this.#parts = parts;
    this.options = options;
    this.source = source;
    this.draftSource = draftSource;
    this.signal = signal;
    this.random = seededRandom(options.seed);
    this.progress = onProgress;
    this.measureKernels = parts.measureKernels;
    this.#endMs = performance.now() + (parts.budgetMs ?? Infinity);
  }

  get model(): ModelCard {
    if (!this.#parts.model) throw new Error("this section has no model");
    return this.#parts.model;
  }

  get leftMs(): number {
    return Math.max(0, this.#endMs - performance.now());
  }

  /** Opens an engine of the model under test, in the options' dtype, or of another model. */
  async openEngine(
    config: EngineConfig & Pick<CreateEngineOptions, "onProgress"> = {},
    model: ModelSource = this.source,
  ): Promise<ChorusEngine> {
    this.signal.throwIfAborted();
    const { backend, dtype, seed } = this.options;
    const engine = await this.#parts.createEngine({
      ...(backend && { backend }),
      ...(dtype && { dtype }),
      seed,
      signal: this.signal,
      ...config,
      model,
    });
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

  /** Returns random token ids, different at each call, so that no prompt is found in the prefix cache by accident. */
  prompt(tokens: number): number[] {
    return randomIntegers(this.random, tokens, 0, this.model.vocabSize - 2);
  }

  /** Adds a remark about the section's figures, such as a shortened run. The same remark is kept once. */
  note(remark: string): void {
    this.#notes.add(remark);
  }

  noteLeftOut(names: readonly string[]): void {
    if (names.length > 0) this.note(`Left out for lack of time: ${names.join("; ")}.`);
  }

  /** Returns the cases, one after the other while there is time; the names of the others become a remark. */
  *inTime<Case extends { readonly name: string }>(cases: readonly Case[]): Generator<Case> {
    for (const [i, one] of cases.entries()) {
      if (i > 0 && this.leftMs === 0) return this.noteLeftOut(cases.slice(i).map(({ name }) => name));
      yield one;
    }
  }

  get notes(): readonly string[] {
    return [...this.#notes];
  }

  /** Runs a section, and disposes its engines. Returns what it has measured, with all remarks; what it leaves out is empty. */
  async measure({ id, title, about, run }: NamedSection): Promise<NamedSectionResult> {
    const startMs = performance.now();
    try {
      const findings = await run(this);
      const seconds = (performance.now() - startMs) / 1000;
      const notes = [...this.#notes, ...(findings.notes ?? [])];
      return { id, title, about, seconds, headlines: [], charts: [], ...findings, notes };
    } finally {
      await this.closeEngines();
    }
  }

  /**
   * Measures each case once to warm up, and then in rounds, one case after the other, so that a disturbance affects all
   * of them alike. Returns each case's outcomes, one per round: as many as the options say, fewer if they would take too long,
   * but at least one. Cases that begin after half of the section's time are left out, but never the first.
   */
  async interleave<Case, Outcome>(
    cases: readonly Case[],
    name: (one: Case) => string,
    measure: (one: Case, isWarmUp: boolean) => Promise<Outcome>,
    { progress = this.progress, mostMs = this.#parts.mostMs ?? 60_000 }: InterleaveOptions = {},
  ): Promise<{ readonly of: Case; readonly outcomes: readonly Outcome[] }[]> {
    const measured = cases.map((one) => ({ of: one, outcomes: [] as Outcome[] }));
    const rounds = this.options.repeats;
    const halfMs = this.leftMs / 2;
    const beginMs = performance.now();
    let startMs = beginMs;
    let roundsMs = mostMs;
    for (let round = 0; round <= rounds; round++) {
      if (round === 1) {
        startMs = performance.now();
        roundsMs = Math.min(mostMs, this.leftMs);
      }
      const spentMs = performance.now() - startMs;
      if (round > 1 && (spentMs / (round - 1)) * round > roundsMs) {
        const seconds = Math.max(1, Math.round(roundsMs / 1000));
        this.note(`${round - 1} of ${rounds} rounds: more would have taken over ${seconds} seconds.`);
        break;
      }
      for (const [i, { of, outcomes }] of measured.entries()) {
        this.signal.throwIfAborted();
        if (round === 0 && i > 0 && performance.now() - beginMs >= halfMs) {
          this.noteLeftOut(measured.splice(i).map((one) => name(one.of)));
          break;
        }
        const what = round === 0 ? "warming up" : `round ${round} of ${rounds}`;
        const share = (round * cases.length + i) / ((rounds + 1) * cases.length);
        const spent = Math.min(1, (performance.now() - startMs) / roundsMs);
        progress(Math.max(share, spent), `${name(of)}, ${what}`);
        const outcome = await measure(of, round === 0);
        if (round > 0) outcomes.push(outcome);
      }
    }
    return measured;
  }
}
