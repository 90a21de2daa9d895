import { toErrorData, type ChorusErrorData } from "../protocol/errors.ts";
import type { ChorusEngine } from "../protocol/engine.ts";
import { turnEndFrom, type Turn, type TurnEnd } from "./conversation.ts";
import type { EngineControl, EngineState } from "./engine-control.ts";
import type { ScheduleFlush } from "./frame-flusher.ts";
import { brokenOffNote, engineGoneNote, isFatal, refusedNote, type Note } from "./note.ts";
import type { Figures, RequestBook } from "./request-book.ts";
import { createStore, type ReadonlyStore } from "./store.ts";
import { streamAnswer, type Sampling } from "./stream-answer.ts";

export interface PaneState {
  /**
   * idle: a question can be asked. held: a question waits for the engine to be there. queued: the engine has it and has
   * not answered yet. streaming: the last turn's answer grows.
   */
  readonly phase: "idle" | "held" | "queued" | "streaming";
  readonly turns: readonly Turn[];
  /** Turns before this one no longer fit and are not sent to the model. */
  readonly firstSent: number;
  readonly draft: string;
  readonly note: Note | null;
  /** Of the newest answer. */
  readonly figures: Figures | null;
}

export interface PaneContext {
  readonly engine: EngineControl;
  readonly book: RequestBook;
  readonly sampling: Sampling;
  readonly scheduleFlush: ScheduleFlush;
  /** Tells people who can't see the page. */
  readonly announce: (text: string) => void;
}

/** One question under way. */
interface Run {
  readonly engine: ChorusEngine;
  readonly abort: AbortController;
  /** Text that has come, ahead of the store, which is told once per frame. */
  answer: string;
  firstSent: number;
}

/** One chat: its conversation, what is being typed, and the one question that may be under way. */
export class Pane {
  /** 1..16: its name and its colour, for life. */
  readonly number: number;
  readonly store: ReadonlyStore<PaneState>;
  readonly #store = createStore<PaneState>(() => ({
    phase: "idle",
    turns: [],
    firstSent: 0,
    draft: "",
    note: null,
    figures: null,
  }));
  readonly #context: PaneContext;
  readonly #unsubscribe: () => void;
  #run: Run | null = null;
  #lastRequestId: string | null = null;
  #nextTurnId = 0;

  constructor(number: number, context: PaneContext) {
    this.number = number;
    this.store = this.#store;
    this.#context = context;
    this.#unsubscribe = context.engine.store.subscribe(this.#followEngine);
  }

  setDraft(draft: string): void {
    this.#store.setState({ draft });
  }

  dismissNote(): void {
    this.#store.setState({ note: null });
  }

  sendDraft(): void {
    if (this.send(this.#store.getState().draft)) this.setDraft("");
  }

  /** False where there is nothing to send or the pane is busy. Before the engine is there the question waits. */
  send(text: string): boolean {
    const { phase, turns } = this.#store.getState();
    const question = text.trim();
    if (question === "" || phase !== "idle") return false;
    const turn: Turn = { id: this.#nextTurnId++, question, answer: "", end: null };
    this.#store.setState({ turns: [...turns, turn], phase: "held", note: null, figures: null });

    this.#followEngine(this.#context.engine.store.getState());
    return true;
  }

  /** Ends the answer here, keeping its text. A question that was not sent yet goes back into the composer. */
  stop(): void {
    if (this.#store.getState().phase === "held") {
      this.#takeBack();
      this.#store.setState({ note: null });
      return;
    }
    this.#run?.abort.abort();
    this.#end("stopped");
  }

  /** Stops what is under way; the pane is not used any more. */
  close(): void {
    this.#unsubscribe();
    this.#run?.abort.abort();
    this.#run = null;
  }

  /** Brings the newest answer's figures up to date; called four times a second. */
  refreshFigures(): void {
    const fresh = this.#lastRequestId === null ? null : this.#context.book.figuresOf(this.#lastRequestId);
    const shown = this.#store.getState().figures;
    if (fresh === null || (fresh.outputTokens === shown?.outputTokens && fresh.ttftMs === shown.ttftMs)) return;
    this.#store.setState({ figures: fresh });
  }

  readonly #followEngine = (state: EngineState): void => {
    const { phase, note } = this.#store.getState();
    if (state.status === "loading" || state.status === "ready") {
      if (note?.action === "start") this.dismissNote();
    } else if (phase === "held") {
      this.#store.setState({ note: engineGoneNote(state.error, false) });
    }
    if (state.status === "ready" && phase === "held") void this.#ask(state.engine);
  };

  async #ask(engine: ChorusEngine): Promise<void> {
    const { turns, firstSent } = this.#store.getState();
    const run: Run = { engine, abort: new AbortController(), answer: "", firstSent };
    this.#run = run;
    this.#lastRequestId = null;
    this.#store.setState({ phase: "queued" });
    let end: TurnEnd | null = null;
    try {
      const { signal } = run.abort;
      for await (const answer of streamAnswer({ engine, turns, firstSent, sampling: this.#context.sampling, signal })) {
        if (this.#run !== run) return;
        const [choice] = answer.chunk.choices;
        this.#lastRequestId = answer.chunk.id;
        run.firstSent = answer.firstSent;
        run.answer += choice?.delta.content ?? "";
        if (choice?.finish_reason) end = turnEndFrom(choice.finish_reason);
        this.#context.scheduleFlush(this.#showText);
      }
      if (this.#run === run) this.#end(end ?? "interrupted");
    } catch (error) {
      if (this.#run === run) this.#fail(run, toErrorData(error));
    }
  }

  readonly #showText = () => {
    const run = this.#run;
    if (run === null) return;
    const { turns } = this.#store.getState();
    const last = turns.at(-1);
    if (last === undefined || last.answer === run.answer) return;
    const grown = { ...last, answer: run.answer };
    this.#store.setState({ phase: "streaming", turns: [...turns.slice(0, -1), grown], firstSent: run.firstSent });
  };

  #end(end: TurnEnd): void {
    if (this.#run === null) return;
    this.#showText();
    this.#run = null;
    const { turns } = this.#store.getState();
    const last = turns.at(-1);
    if (last === undefined) return;
    this.#store.setState({ phase: "idle", turns: [...turns.slice(0, -1), { ...last, end }] });
    this.refreshFigures();
    this.#context.announce(`Pane ${this.number}: ${end === "stopped" ? "Stopped." : last.answer}`);
  }

  #fail(run: Run, error: ChorusErrorData): void {
    const engineState = this.#context.engine.store.getState();
    const isGone = isFatal(error) || engineState.status !== "ready" || engineState.engine !== run.engine;
    const hasText = run.answer !== "";
    if (hasText) {
      this.#end("interrupted");
      this.#store.setState({ note: isGone ? engineGoneNote(error, true) : brokenOffNote(error) });
    } else if (isGone) {
      this.#run = null;
      this.#store.setState({ phase: "held", note: engineGoneNote(error, false) });
      if (engineState.status !== "ready" || engineState.engine !== run.engine) this.#followEngine(engineState);
    } else {
      this.#takeBack();
      this.#store.setState({ note: refusedNote(error) });
    }
  }

  /** Moves the newest question from the conversation back into the composer, before what was typed since. */
  #takeBack(): void {
    this.#run = null;
    const { turns, draft } = this.#store.getState();
    const question = turns.at(-1)?.question ?? "";
    const typedSince = draft.trim() === "" ? "" : `\n${draft}`;
    this.#store.setState({ phase: "idle", turns: turns.slice(0, -1), draft: question + typedSince });
  }
}
