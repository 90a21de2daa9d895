import type { RemoteModel } from "../../remote/answerer.ts";
import type { BatchingMode } from "../../../index.ts";
import type { BatchingModeControl } from "../batch/batching-mode.ts";
import { answerEnded } from "../chat/answer-ended.ts";
import { Pane, type PaneContext } from "../chat/pane.ts";
import type { ModelChoice } from "../models/model-choice.ts";
import type { Settings } from "../settings/settings.ts";
import { SharedSettings } from "../settings/shared-settings.ts";
import { createStore, type ReadonlyStore } from "../store.ts";

/** The difference of one side. Everything else is the same for all. */
export interface DuelSide {
  /** Name for display: "seed 2", "q4". */
  readonly label: string;
  readonly settings?: Settings;
  /** Null for this page's engine. */
  readonly answerer?: RemoteModel | null;
  /** Another model, or other weights: the engine is started with it. */
  readonly choice?: ModelChoice;
  readonly mode?: BatchingMode;
}

export interface DuelSetup {
  readonly question: string;
  readonly sides: readonly DuelSide[];
}

/** The state of a side. */
export interface DuelRun {
  readonly label: string;
  /** loading: the engine starts with its model, or warms up. failed: its answer did not end. */
  readonly status: "waiting" | "loading" | "running" | "done" | "failed";
  readonly pane: Pane;
  /** Panes that ask the same with other seeds, so that a batching mode has a batch. */
  readonly companions: readonly Pane[];
  /** Time from the question to the end of all its answers, by the page's clock. */
  readonly elapsedMs: number;
  /** Tokens of all its answers. */
  readonly tokens: number;
}

export interface DuelState {
  readonly phase: "closed" | "running" | "done" | "failed";
  readonly question: string;
  readonly runs: readonly DuelRun[];
  /** Whether the sides answer at the same time. */
  readonly isTogether: boolean;
  /** Why it failed. */
  readonly message: string;
}

interface DuelContext extends PaneContext {
  readonly mode: BatchingModeControl;
  /** The page's clock, milliseconds. */
  readonly now: () => number;
}

const WARM_UP_TOKENS = 4;
/** Number of answers with which a batching mode is tried. */
export const BATCH = 4;
/** Settings of all sides, unless their own differ: with the same seed only one thing differs. */
const SAME_FOR_ALL: Settings = { seed: 1, max_tokens: 128 };

/** Most sides of a duel. */
export const MAX_SIDES = 4;

const CLOSED: DuelState = { phase: "closed", question: "", runs: [], isTogether: true, message: "" };

/** Returns whether one engine can answer all sides at the same time. */
export function canRunTogether(sides: readonly DuelSide[]): boolean {
  return sides.every(({ choice, mode }) => choice === undefined && mode === undefined);
}

/**
 * Lets panes that differ in one thing answer one question. They run one after the other if one engine can't have both sides
 * at once (a model, a dtype, a batching mode). Has its own panes, and leaves the engine as it was.
 */
export class Duel {
  readonly #store = createStore<DuelState>(() => CLOSED);
  readonly store: ReadonlyStore<DuelState> = this.#store;
  readonly #context: DuelContext;
  /** Identifies the newest start; older ones are ignored. */
  #attempt = 0;
  /** The engine's model and mode to restore. */
  #before: { readonly choice: ModelChoice; readonly mode: BatchingMode } | null = null;
  /** The pane that warms up the engine, if any does. */
  #warmingUp: Pane | null = null;
  /** When each side's question was asked. */
  readonly #startMs = new Map<number, number>();

  constructor(context: DuelContext) {
    this.#context = context;
  }

  async start({ question, sides }: DuelSetup): Promise<void> {
    this.#closePanes();
    await this.#restore();
    const attempt = ++this.#attempt;
    const { engine, mode, announce } = this.#context;
    this.#before = { choice: engine.choice.getState(), mode: mode.store.getState() };
    const runs = sides.map((side, i): DuelRun => {
      const companions =
        side.mode === undefined ? [] : Array.from({ length: BATCH - 1 }, (_, n) => this.#paneOf(side, i, n + 1));
      return { label: side.label, status: "waiting", pane: this.#paneOf(side, i), companions, elapsedMs: 0, tokens: 0 };
    });
    this.#startMs.clear();
    const isTogether = canRunTogether(sides);
    this.#store.setState({ phase: "running", question, runs, isTogether, message: "" }, true);
    const isCurrent = () => attempt === this.#attempt;
    if (isTogether) await Promise.all(runs.map((_, i) => this.#run(i, isCurrent)));
    else {
      for (const [i, side] of sides.entries()) {
        // oxlint-disable-next-line no-await-in-loop -- one after the other is the point
        const isReady =
          isCurrent() && (await this.#prepare(i, side, isCurrent)) && (await this.#warmUp(i, side, isCurrent));
        // oxlint-disable-next-line no-await-in-loop -- as above
        if (isReady) await this.#run(i, isCurrent);
      }
    }
    if (!isCurrent()) return;
    await this.#restore();
    const { runs: ended, message } = this.store.getState();
    const hasFailed = ended.some(({ status }) => status === "failed");
    this.#store.setState({ phase: hasFailed ? "failed" : "done" });
    announce(hasFailed ? `The duel stopped: ${message}` : "The duel has ended.");
  }

  /** Stops the duel and closes it at once. Resolves when the engine is as it was before. */
  async close(): Promise<void> {
    this.#attempt++;
    this.#closePanes();
    this.#store.setState(CLOSED, true);
    await this.#restore();
  }

  /** Updates the figures. Called four times per second. */
  tick(): void {
    if (this.store.getState().phase === "running") this.#measure();
  }

  /** @param seedOffset a companion's offset to the seed */
  #paneOf({ settings = {}, answerer = null }: DuelSide, index: number, seedOffset = 0): Pane {
    const all: Settings = { ...SAME_FOR_ALL, ...this.#context.settings.inherited(), ...settings };
    const { n: _one, ...one } = all;
    const shared = new SharedSettings({ ...one, seed: (all.seed ?? 1) + seedOffset });
    // Only the end is announced: answers spoken at once would be noise.
    const pane = new Pane(index + 1, { ...this.#context, settings: shared, announce: () => undefined });
    pane.answerBy(answerer);
    return pane;
  }

  /** Switches the engine to a side's model and mode. Resolves with whether that worked. */
  async #prepare(index: number, { choice, mode }: DuelSide, isCurrent: () => boolean): Promise<boolean> {
    const { engine, mode: control } = this.#context;
    if (mode !== undefined) {
      control.hold(true);
      control.choose(mode);
    }
    if (choice === undefined) return true;
    this.#set(index, "loading");
    const error = await engine.switchTo(choice);
    if (!isCurrent() || error === null) return isCurrent();
    this.#set(index, "failed");
    this.#store.setState({ message: error.message });
    return false;
  }

  /** Asks for a few tokens, so that no side pays for the engine's first steps. Resolves with whether it may go on. */
  async #warmUp(index: number, side: DuelSide, isCurrent: () => boolean): Promise<boolean> {
    this.#set(index, "loading");
    const settings = { ...side.settings, max_tokens: WARM_UP_TOKENS };
    const pane = (this.#warmingUp = this.#paneOf({ ...side, settings }, index));
    pane.send(this.store.getState().question);
    await answerEnded(pane); // an error here occurs in the run again, which reports it
    pane.close();
    return isCurrent();
  }

  async #run(index: number, isCurrent: () => boolean): Promise<void> {
    const { question, runs } = this.store.getState();
    const run = runs[index];
    if (run === undefined) return;
    this.#startMs.set(index, this.#context.now());
    this.#set(index, "running");
    const panes = [run.pane, ...run.companions];
    const ends = panes.map((pane) => {
      pane.send(question);
      return answerEnded(pane);
    });
    const haveEnded = (await Promise.all(ends)).every(Boolean);
    if (!isCurrent()) return;
    this.#measure();
    this.#set(index, haveEnded ? "done" : "failed");
    if (haveEnded) return;
    const note = panes.map(({ store }) => store.getState().note).find((one) => one && one.kind !== "info");
    this.#store.setState({ message: note?.body ?? "An answer was cut off." });
  }

  #measure(): void {
    const runs = this.store.getState().runs.map((run, i) => {
      if (run.status !== "running") return run;
      const panes = [run.pane, ...run.companions];
      for (const pane of panes) pane.refreshFigures();
      const tokens = panes.reduce((sum, { store }) => sum + (store.getState().figures?.outputTokens ?? 0), 0);
      return { ...run, elapsedMs: this.#context.now() - (this.#startMs.get(i) ?? 0), tokens };
    });
    this.#store.setState({ runs });
  }

  #set(index: number, status: DuelRun["status"]): void {
    const runs = this.store.getState().runs.map((run, i) => (i === index ? { ...run, status } : run));
    this.#store.setState({ runs });
  }

  #closePanes(): void {
    this.#warmingUp?.close();
    this.#warmingUp = null;
    for (const { pane, companions } of this.store.getState().runs) for (const one of [pane, ...companions]) one.close();
  }

  /** Restores the engine's model and mode. */
  async #restore(): Promise<void> {
    const before = this.#before;
    this.#before = null;
    if (before === null) return;
    const { engine, mode } = this.#context;
    if (mode.store.getState() !== before.mode) mode.choose(before.mode);
    mode.hold(false);
    if (engine.choice.getState() !== before.choice) await engine.switchTo(before.choice);
  }
}
