import { AnswerTokens } from "./answer-tokens.ts";
import { toErrorData, type ChorusErrorData } from "../../protocol/errors.ts";
import type { Answerer, RemoteModel } from "../../protocol/answerer.ts";
import type { RequestMetrics } from "../../protocol/request-metrics.ts";
import { remoteName, type Connections } from "../connections/connections.ts";
import { isUnfinished, withAnswer, withoutOthers, type Turn, type TurnEnd } from "./conversation.ts";
import type { EngineControl, EngineState } from "../engine/engine-control.ts";
import type { ScheduleFlush } from "../frame-flusher.ts";
import { GrowingAnswers } from "./growing-answers.ts";
import { brokenOffNote, clearedNote, engineGoneNote, isFatal, refusedNote, spilledNote, type Note } from "./note.ts";
import { isSameFigures, type Figures, type RequestBook } from "./request-book.ts";
import { RequestNames } from "./request-name.ts";
import { resumed, type SavedChat, type SavedPane } from "../workspace/saved-workspace.ts";
import { withSetting, type SettingName, type Settings, type SettingValue } from "../settings/settings.ts";
import type { SharedSettings } from "../settings/shared-settings.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import { streamAnswer } from "./stream-answer.ts";

export interface PaneState extends Omit<SavedChat, "answerer"> {
  /** Null: this page's engine. */
  readonly answerer: RemoteModel | null;
  /**
   * idle: a question can be asked. held: a question waits until an engine is ready. queued: who answers has it and has
   * not answered yet. streaming: the last turn's answer grows.
   */
  readonly phase: "idle" | "held" | "queued" | "streaming";
  readonly note: Note | null;
  /** Of the newest answer. */
  readonly figures: Figures | null;
}

export interface PaneContext {
  readonly engine: EngineControl;
  readonly book: RequestBook;
  readonly settings: SharedSettings;
  /** The servers that may answer. [none] */
  readonly connections?: Connections;
  readonly scheduleFlush: ScheduleFlush;
  /** Announces a text to screen readers. */
  readonly announce: (text: string) => void;
}

/** The question in progress. */
interface Run {
  /** Null: a server answers. */
  readonly engine: Answerer | null;
  readonly abort: AbortController;
  /** Length of the answer that is continued; 0 for a new one. */
  readonly startLength: number;
  readonly answers: GrowingAnswers;
  firstSent: number;
}

type Conversation = Pick<PaneState, "turns" | "firstSent">;

const EMPTY: SavedChat = { title: null, settings: {}, turns: [], firstSent: 0, draft: "" };

/** One chat: its conversation, its draft, and at most one question in progress. */
export class Pane {
  /** 1..16, its name and its colour. Never changes. */
  readonly number: number;
  readonly store: ReadonlyStore<PaneState>;
  readonly tokens = new AnswerTokens();
  /** Of answers that came to their end, by turn id. They are not saved, and last as long as the page. */
  readonly metrics = new Map<number, RequestMetrics>();
  readonly requestNames;
  readonly #store;
  readonly #context: PaneContext;
  readonly #unsubscribe: () => void;
  #run: Run | null = null;
  /** The conversation to restore if the question in progress fails; `typed` then goes back into the composer. */
  #before: Conversation & { typed: string } = { turns: [], firstSent: 0, typed: "" };
  #cleared: Conversation | null = null;
  #lastRequest: string | null = null;
  #nextTurnId: number;

  constructor(number: number, context: PaneContext, chat: SavedChat = EMPTY) {
    this.number = number;
    this.requestNames = new RequestNames(number);
    const { title, settings, turns, firstSent, draft, answerer = null } = resumed(chat);
    this.store = this.#store = createStore<PaneState>(() => ({
      title,
      settings,
      turns,
      firstSent,
      draft,
      answerer,
      phase: "idle",
      note: null,
      figures: null,
    }));
    this.#nextTurnId = 1 + Math.max(-1, ...turns.map(({ id }) => id));
    this.#context = context;
    this.#unsubscribe = context.engine.store.subscribe(this.#followEngine);
  }

  toSaved(): SavedPane {
    const { title, settings, phase, draft, answerer } = this.#store.getState();
    // An answer that is being regenerated or continued is kept until the first new word.
    const isUntouched = (phase === "held" || phase === "queued") && this.#before.typed === "";
    const { turns, firstSent } = isUntouched ? this.#before : this.#store.getState();
    return { number: this.number, title, settings, turns, firstSent, draft, ...(answerer && { answerer }) };
  }

  /** Chooses who answers from the next question on. Null: this page's engine. */
  answerBy(answerer: RemoteModel | null): void {
    this.#store.setState({ answerer });
  }

  setDraft(draft: string): void {
    this.#store.setState({ draft });
  }

  /** An empty title names the pane after its first question again. */
  rename(title: string): void {
    this.#store.setState({ title: title.trim() || null });
  }

  /** Sets one setting. Null inherits it from the settings for all panes. */
  set(name: SettingName, value: SettingValue | null): void {
    this.#store.setState({ settings: withSetting(this.#store.getState().settings, name, value) });
  }

  /** Replaces all of the pane's own settings. */
  replaceSettings(settings: Settings): void {
    this.#store.setState({ settings });
  }

  tell(note: Note): void {
    this.#store.setState({ note });
  }

  dismissNote(): void {
    this.#store.setState({ note: null });
  }

  sendDraft(): void {
    if (this.send(this.#store.getState().draft)) this.setDraft("");
  }

  /** Asks a question. Returns false if it is empty or the pane is busy. The question waits until an engine is ready. */
  send(text: string): boolean {
    return this.#askAt(this.#store.getState().turns.length, text);
  }

  /** Rewords and asks a question again; later turns are removed. Returns false if it is empty or the pane is busy. */
  edit(turnId: number, text: string): boolean {
    const at = this.#store.getState().turns.findIndex(({ id }) => id === turnId);
    return at >= 0 && this.#askAt(at, text);
  }

  /** Replaces the newest answer by a new one. */
  regenerate(): void {
    const { turns, phase } = this.#store.getState();
    const last = turns.at(-1);
    if (last === undefined || phase !== "idle") return;
    this.#begin([...turns.slice(0, -1), { ...withoutOthers(last), answer: "", reasoning: "", end: null }], "");
  }

  /** Continues an answer that ended too early. */
  continueAnswer(): void {
    const { turns, phase } = this.#store.getState();
    const last = turns.at(-1);
    if (last === undefined || phase !== "idle" || !isUnfinished(last)) return;
    this.#begin([...turns.slice(0, -1), { ...withoutOthers(last), end: null }], "");
  }

  /** Chooses which of the newest question's answers the chat goes on with. */
  chooseAnswer(index: number): void {
    const { turns, phase } = this.#store.getState();
    const last = turns.at(-1);
    const chosen = last && phase === "idle" ? withAnswer(last, index) : null;
    if (chosen) this.#store.setState({ turns: [...turns.slice(0, -1), chosen] });
  }

  /** Stops the answer and keeps its text. A question that was not sent yet goes back into the composer. */
  stop(): void {
    const run = this.#run;
    run?.abort.abort();
    const isNothingGained = run !== null && run.answers.length === run.startLength && this.#before.typed === "";
    if (this.#store.getState().phase !== "held" && !isNothingGained) return this.#end("stopped");
    this.#takeBack();
    this.#store.setState({ note: null });
  }

  /** Empties the conversation. `undoClear` restores it until the next question. */
  clear(): void {
    this.stop();
    const { turns, firstSent } = this.#store.getState();
    if (turns.length === 0) return;
    this.#cleared = { turns, firstSent };
    this.#lastRequest = null; // else its figures would reappear
    this.#store.setState({ turns: [], firstSent: 0, figures: null, note: clearedNote(turns.length) });
  }

  undoClear(): void {
    if (this.#cleared === null) return;
    this.#store.setState({ ...this.#cleared, note: null });
    this.#cleared = null;
  }

  /** Stops the question in progress. The pane must not be used afterwards. */
  close(): void {
    this.#unsubscribe();
    this.#run?.abort.abort();
    this.#run = null;
  }

  /** Updates the newest answer's figures. Called four times per second. */
  refreshFigures(): void {
    const fresh = this.#lastRequest === null ? null : this.#context.book.figuresOf(this.#lastRequest);
    const shown = this.#store.getState().figures;
    if (fresh === null || (shown && isSameFigures(fresh, shown))) return;
    this.#store.setState({ figures: fresh });
  }

  #askAt(at: number, text: string): boolean {
    const { phase, turns } = this.#store.getState();
    const question = text.trim();
    if (question === "" || phase !== "idle") return false;
    this.#begin([...turns.slice(0, at), { id: this.#nextTurnId++, question, answer: "", end: null }], question);
    return true;
  }

  /** Has the newest of `turns` answered. */
  #begin(asked: readonly Turn[], typed: string): void {
    const before = this.#store.getState();
    this.#before = { turns: before.turns, firstSent: before.firstSent, typed };
    this.#cleared = null;
    const { remote, note } = this.#chooseAnswerer();
    const turns = asked.map((turn, index) => (index === asked.length - 1 ? answeredBy(turn, remote) : turn));
    const firstSent = before.firstSent < turns.length ? before.firstSent : 0;
    this.#store.setState({ turns, firstSent, phase: "held", note, figures: null });
    if (remote === null) this.#followEngine(this.#context.engine.store.getState());
    else void this.#ask(remote);
  }

  /** The pane's own choice; else the connection for long queues, where the local one is long; else this page's engine. */
  #chooseAnswerer(): { readonly remote: RemoteModel | null; readonly note: Note | null } {
    const { answerer } = this.#store.getState();
    const spillOver = this.#context.connections?.store.getState().spillOver ?? null;
    const waitS = this.#context.book.expectedWaitS();
    if (answerer !== null || spillOver === null || waitS <= spillOver.limitS) return { remote: answerer, note: null };
    return { remote: spillOver, note: spilledNote(remoteName(spillOver), waitS) };
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

  /** @param by an engine that is ready, or a server's model */
  async #ask(by: Answerer | RemoteModel): Promise<void> {
    const { turns, firstSent, settings: own } = this.#store.getState();
    const last = turns.at(-1);
    const { id = 0, answer = "" } = last ?? {};
    if (answer === "") this.tokens.forget(id);
    this.metrics.delete(id);
    const abort = new AbortController();
    const isRemote = "baseUrl" in by;
    const engine = isRemote ? null : by;
    const run: Run = { engine, abort, startLength: answer.length, answers: new GrowingAnswers(last ?? {}), firstSent };
    this.#run = run;
    const name = this.requestNames.next(turns.length);
    const all = { ...this.#context.settings.inherited(), ...own };
    // One answer is continued, not several.
    const settings = answer === "" ? all : withSetting(all, "n", null);
    this.#lastRequest = name;
    this.#store.setState({ phase: "queued" });
    try {
      const { signal } = run.abort;
      const answerer = isRemote ? await this.#open(by) : by;
      for await (const part of streamAnswer({ answerer, turns, firstSent, settings, requestId: name, signal })) {
        if (this.#run !== run) return;
        run.firstSent = part.firstSent;
        run.answers.add(part);
        if (part.tokens && part.index === 0) this.tokens.add(id, part.tokens);
        if (part.metrics) this.metrics.set(id, part.metrics);
        this.#context.scheduleFlush(this.#showText);
      }
      if (this.#run === run) this.#end("interrupted");
    } catch (error) {
      if (this.#run === run) this.#fail(run, toErrorData(error));
    }
  }

  #open(remote: RemoteModel): Promise<Answerer> {
    const { connections } = this.#context;
    if (connections === undefined) throw new Error("There are no connections here.");
    return connections.open(remote);
  }

  readonly #showText = () => {
    const run = this.#run;
    if (run === null) return;
    const { turns } = this.#store.getState();
    const last = turns.at(-1);
    if (last === undefined) return;
    const grown = run.answers.written(last);
    if (grown === last) return;
    this.#store.setState({ phase: "streaming", turns: [...turns.slice(0, -1), grown], firstSent: run.firstSent });
  };

  /** @param end of an answer that did not end by itself */
  #end(end: TurnEnd): void {
    if (this.#run === null) return;
    this.#showText();
    const { startLength, answers } = this.#run;
    this.#run = null;
    const { turns } = this.#store.getState();
    const last = turns.at(-1);
    if (last === undefined) return;
    this.#store.setState({ phase: "idle", turns: [...turns.slice(0, -1), answers.ended(last, end)] });
    this.refreshFigures();
    this.#context.announce(`Pane ${this.number}: ${end === "stopped" ? "Stopped." : last.answer.slice(startLength)}`);
  }

  #fail(run: Run, error: ChorusErrorData): void {
    const engineState = this.#context.engine.store.getState();
    const isReplaced = engineState.status !== "ready" || engineState.engine !== run.engine;
    const isGone = run.engine !== null && (isFatal(error) || isReplaced);
    const hasText = run.answers.length > run.startLength;
    if (hasText) {
      this.#end("interrupted");
      this.#store.setState({ note: isGone ? engineGoneNote(error, true) : brokenOffNote(error) });
    } else if (isGone) {
      this.#run = null;
      this.#store.setState({ phase: "held", note: engineGoneNote(error, false) });
      if (isReplaced) this.#followEngine(engineState);
    } else {
      this.#takeBack();
      this.#store.setState({ note: refusedNote(error) });
    }
  }

  /** Restores the conversation. The question goes into the composer, before what was typed since. */
  #takeBack(): void {
    this.#run = null;
    const { turns, firstSent, typed } = this.#before;
    const draft = [typed, this.#store.getState().draft].filter((text) => text.trim() !== "").join("\n");
    this.#store.setState({ phase: "idle", turns, firstSent, draft });
  }
}

function answeredBy(turn: Turn, remote: RemoteModel | null): Turn {
  const { by: _before, ...rest } = turn;
  return remote === null ? rest : { ...rest, by: remoteName(remote) };
}
