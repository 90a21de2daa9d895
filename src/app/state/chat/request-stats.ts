import { nameIn } from "./request-name.ts";
import type { RemoteObserver } from "../../remote/remote-answer.ts";
import { tokensOf, type RequestReport, type StepReport } from "../../../index.ts";

/** A pane's figures about its answer, by the worker's clock, or the page's for a server's answer; null while unknown. */
export type Figures = Readonly<NonNullable<ReturnType<RequestStats["figuresOf"]>>>;

/** Returns whether at most the speed differs, which changes with each token. */
export function isSameFigures(a: Figures, b: Figures): boolean {
  return JSON.stringify({ ...a, tokensPerSecond: null }) === JSON.stringify({ ...b, tokensPerSecond: null });
}

/** Null while unknown. */
const NEW_ENTRY = {
  arrivalMs: null as number | null,
  firstTokenMs: null as number | null,
  lastTokenMs: null as number | null,
  outputTokens: 0,
  promptTokens: null as number | null,
  cachedTokens: null as number | null,
  retry: null as string | null,
  isFinished: false,
};

// A pane looks up only its newest request, so older ones can be forgotten.
const REMEMBERED_REQUESTS = 256;
/** Number of answers that the duration of an answer is averaged over. */
const MEASURED_ANSWERS = 8;

/** Keeps each recent request's figures, gathered from the engine's reports, and for servers from the page's own observation. */
export class RequestStats implements RemoteObserver {
  readonly #now: () => number;
  readonly #onChange: () => void;
  readonly #entries = new Map<string, typeof NEW_ENTRY>();
  /** Durations of the last finished answers, from first step to end. */
  #answerMs: readonly number[] = [];
  #waitingNames: readonly string[] = [];
  #numWaiting = 0;
  #numRunning = 0;

  /** @param now the page's clock, milliseconds @param onChange called when a request's figures may have changed */
  constructor(now: () => number = () => performance.now(), onChange: () => void = () => undefined) {
    this.#now = now;
    this.#onChange = onChange;
  }

  addStep(report: StepReport): void {
    this.#waitingNames = report.waitingIds.map(nameIn);
    this.#numWaiting = report.numWaiting;
    this.#numRunning = report.numRunning;
    for (const share of report.entries) {
      // Where several answers grow side by side, the figures are the first one's.
      if (!share.sampled || share.index !== 0) continue;
      const entry = this.#entry(share.requestId);
      // A step in flight when the request ended adds nothing.
      if (entry.isFinished) continue;
      entry.outputTokens += tokensOf(share);
      entry.firstTokenMs ??= report.atMs;
      entry.lastTokenMs = report.atMs;
    }
  }

  addRequest(report: RequestReport): void {
    if (report.index !== 0) return;
    const entry = this.#entry(report.requestId);
    entry.arrivalMs = report.arrivalMs;
    entry.firstTokenMs = report.firstTokenMs ?? entry.firstTokenMs;
    if (report.firstTokenMs !== null) {
      entry.promptTokens = report.promptTokens;
      entry.cachedTokens = report.cachedTokens;
    }
    if (report.status !== "finished") return;
    entry.isFinished = true;
    entry.outputTokens = report.outputTokens;
    const { scheduledMs, finishedMs, finishReason } = report;
    if (scheduledMs !== null && finishedMs !== null && finishReason !== "abort") {
      this.#answerMs = [...this.#answerMs, finishedMs - scheduledMs].slice(-MEASURED_ANSWERS);
    }
  }

  sent(name: string): void {
    this.#entry(name).arrivalMs = this.#now();
  }

  retrying(name: string, why: string): void {
    this.#entry(name).retry = why;
  }

  received(name: string, numTokens: number): void {
    const entry = this.#entry(name);
    entry.retry = null;
    entry.outputTokens = numTokens;
    entry.lastTokenMs = this.#now();
    entry.firstTokenMs ??= entry.lastTokenMs;
  }

  ended(name: string): void {
    this.#entry(name).isFinished = true;
  }

  /** Returns the estimated wait of a new question for the engine, in seconds; 0 if nothing was measured yet. */
  expectedWaitS(): number {
    return this.#numWaiting === 0 ? 0 : (this.#waitS(this.#numWaiting + 1) ?? 0);
  }

  /** Returns the figures of the request with the page's name, null before the first report about it. */
  figuresOf(name: string) {
    const entry = this.#entries.get(name);
    if (entry === undefined) return null;
    const { arrivalMs, firstTokenMs, lastTokenMs, outputTokens, promptTokens, cachedTokens, retry, isFinished } = entry;
    const place = isFinished ? 0 : this.#waitingNames.indexOf(name) + 1;
    const decodingMs = firstTokenMs === null || lastTokenMs === null ? 0 : lastTokenMs - firstTokenMs;
    return {
      /** Rate of the whole answer so far, after its first token. */
      tokensPerSecond: decodingMs > 0 ? ((outputTokens - 1) * 1000) / decodingMs : null,
      ttftMs: firstTokenMs === null || arrivalMs === null ? null : firstTokenMs - arrivalMs,
      outputTokens,
      /** Tokens of the prompt, and those of them that the prefix cache had; null until the first token. */
      promptTokens,
      cachedTokens,
      /** 1 is served next; null if it runs, has ended, or is further back than reports list. */
      queuePlace: place > 0 ? place : null,
      /** Estimated seconds until it is served, from the duration of the last answers. */
      queueWaitS: place > 0 ? this.#waitS(place) : null,
      /** Why a server is asked again, and how often; null if it has not failed. */
      retry,
    };
  }

  /** Estimates the wait, as if running requests ended one after another; null if nothing was measured. */
  #waitS(place: number): number | null {
    const measured = this.#answerMs;
    if (measured.length === 0) return null;
    const meanMs = measured.reduce((sum, ms) => sum + ms, 0) / measured.length;
    return Math.max(1, Math.round((place * meanMs) / Math.max(1, this.#numRunning) / 1000));
  }

  #entry(requestId: string): typeof NEW_ENTRY {
    this.#onChange();
    const name = nameIn(requestId);
    let entry = this.#entries.get(name);
    if (entry === undefined) {
      entry = { ...NEW_ENTRY };
      this.#entries.set(name, entry);
      const oldest = this.#entries.keys().next();
      if (this.#entries.size > REMEMBERED_REQUESTS && !oldest.done) this.#entries.delete(oldest.value);
    }
    return entry;
  }
}
