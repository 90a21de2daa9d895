import { AnswerMemory } from "./answer-memory.ts";
import { askingOf, type Asking, type AskingContext } from "./asking.ts";
import { randomId, toErrorData, type ChorusErrorData } from "../../../index.ts";
import type { Answerer, RemoteModel } from "../../remote/answerer.ts";
import { remoteName } from "../connections/connections.ts";
import type { ContextUse } from "./context-cut.ts";
import { answeredBy, isUnfinished, withAlternative, withoutAlternatives, type TurnEnd } from "./conversation.ts";
import type { EngineState } from "../engine/engine-control.ts";
import type { ScheduleFlush } from "../frame-flusher.ts";
import { GrowingAnswers } from "./growing-answers.ts";
import {
  copiedNote,
  engineGoneNote,
  failedNote,
  isFatal,
  warningsNote,
  refusedNote,
  spilledNote,
  type Note,
} from "./note.ts";
import { isSameFigures, type RequestStats } from "./request-stats.ts";
import type { NamedChat, SavedChat } from "../workspace/saved-workspace.ts";
import type { FieldValue } from "../settings/field.ts";
import { hasTools, settingsFor } from "../settings/question-settings.ts";
import { withSetting, type SettingName, type Settings } from "../settings/settings.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import { streamAnswer } from "./stream-answer.ts";
import { ToolCalls } from "./tool-calls.ts";
import { waitingCalls } from "./tool-rounds.ts";
import { EMPTY, openedState, savedChatOf, type Conversation, type PaneState } from "./pane-state.ts";
import type { Tool, Toolbox } from "../tools/toolbox.ts";
import { choosePath, cutPath, nextTurnId, numInCommon, type TurnTree } from "./turn-tree.ts";

export interface PaneContext extends AskingContext {
  readonly requestStats: RequestStats;
  readonly scheduleFlush: ScheduleFlush;
  /** Loads the tools that models may call. [none] */
  readonly toolbox?: () => Promise<Toolbox>;
  readonly announce: (text: string) => void;
  /**
   * Called when a regenerated answer or an edited question replaces a turn, with the last turn of the path until then.
   * Returns a function that is called if that fails. [it can't be undone]
   */
  readonly onReplaced?: (pane: Pane, what: "answer" | "question", lastTurnId: number) => () => void;
}

/** The question in progress. */
interface Run {
  /** Null if a server answers. */
  readonly engine: Answerer | null;
  readonly abort: AbortController;
  /** Length of the continued answer; 0 for a new one. */
  readonly startLength: number;
  readonly answers: GrowingAnswers;
  tools: readonly Tool[];
  contextStart: number;
}

/** One chat: its conversation, its draft, and at most one question in progress. */
export class Pane {
  static #numOpened = 0;
  /** 1..16, its name and its colour. Never changes. */
  readonly number: number;
  /** Unique on this page: a number is reused, even for another pane in the same place. */
  readonly key = ++Pane.#numOpened;
  readonly store: ReadonlyStore<PaneState>;
  readonly asking: ReadonlyStore<Asking>;
  readonly memory: AnswerMemory;
  readonly calls: ToolCalls;
  /** Kept by `meterContext`. Null while unknown: before the model is ready, or if a server answers. */
  readonly contextUse = createStore<ContextUse | null>(() => null);
  readonly #store;
  readonly #context: PaneContext;
  readonly #unsubscribe: () => void;
  #run: Run | null = null;
  /** The conversation to restore if the question in progress fails; `typed` then goes back into the composer. */
  #before: Conversation & { typed: string } = { turns: [], inactiveTurns: [], contextStart: 0, typed: "" };
  /** Called if the question in progress fails. */
  #onFailed: (() => void) | undefined;

  /** @param memory the chat's memory, if it was in a pane before */
  constructor(number: number, context: PaneContext, chat: SavedChat = EMPTY, memory = new AnswerMemory()) {
    this.number = number;
    this.memory = memory;
    this.store = this.#store = createStore<PaneState>(() => openedState(chat));
    memory.nextTurnId = Math.max(memory.nextTurnId, nextTurnId(this.store.getState()));
    this.#context = context;
    this.asking = askingOf(this.store, context);
    const engine = () => this.asking.getState().engine;
    const { toolbox } = context;
    this.calls = new ToolCalls({ store: this.#store, memory, engine, toolbox, onResults: this.#sendResults });
    this.#unsubscribe = context.engine.store.subscribe(this.#followEngine);
  }

  toSaved(): NamedChat {
    const state = this.#store.getState();
    // An answer that is being regenerated or continued is kept until the first new word.
    const { typed, ...before } = this.#before;
    const isUntouched = (state.phase === "held" || state.phase === "queued") && typed === "";
    return savedChatOf(isUntouched ? { ...state, ...before } : state);
  }

  /** Chooses the answerer from the next question on; null for this page's engine. */
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

  /** Goes on with this chat as a chat of its own, since another tab has changed the one it was. @param before its title then */
  goOnAs(copy: NamedChat, before: Pick<SavedChat, "title">): void {
    const { title } = this.#store.getState();
    this.#store.setState({ id: copy.id, title: title === before.title ? copy.title : title, note: copiedNote(copy) });
  }

  /** Sets one setting. Null inherits it from the settings for all panes. */
  set(name: SettingName, value: FieldValue | null): void {
    this.#store.setState({ settings: withSetting(this.#store.getState().settings, name, value) });
  }

  replaceSettings(settings: Settings): void {
    this.#store.setState({ settings });
  }

  /** @param note null dismisses the one that is shown */
  notify(note: Note | null): void {
    this.#store.setState({ note });
  }

  sendDraft(): void {
    if (this.send(this.#store.getState().draft)) this.setDraft("");
  }

  /** Asks a question. Returns false if it is empty or the pane is busy. @param turnSettings settings for this question alone */
  send(text: string, turnSettings?: Settings): boolean {
    return this.#askAt(this.#store.getState().turns.length, text, turnSettings);
  }

  /** Rewords and asks a question again, as a variant of its turn. Returns false if it is empty or the pane is busy. */
  edit(turnId: number, text: string): boolean {
    const at = this.#store.getState().turns.findIndex(({ id }) => id === turnId);
    return at >= 0 && this.#askAt(at, text);
  }

  /** Asks the newest question again, as a variant of its turn. */
  regenerate(): void {
    const { turns, phase } = this.#store.getState();
    const last = turns.at(-1);
    if (last === undefined || phase !== "idle") return;
    this.#begin(this.#withTurnAt(turns.length - 1, last.question, this.memory.turnSettings.get(last.id)), "", "answer");
  }

  /** Whether the newest answer ended too early, and can be continued now. */
  get canContinueAnswer(): boolean {
    const { turns, phase } = this.#store.getState();
    const last = turns.at(-1);
    if (last === undefined || phase !== "idle" || !isUnfinished(last)) return false;
    return last.answer === "" || this.asking.getState().canContinue;
  }

  /** Continues the newest answer if that is possible. If it has alternatives, they stay together in a variant. */
  continueAnswer(): void {
    const state = this.#store.getState();
    const last = state.turns.at(-1);
    if (last === undefined || !this.canContinueAnswer) return;
    if (last.answer === "") return this.#sendResults();
    const at = state.turns.length - 1;
    const rest = last.alternatives ? cutPath(state, at) : { ...state, turns: state.turns.slice(0, at) };
    const id = last.alternatives ? this.memory.nextTurnId++ : last.id;
    this.#begin({ ...rest, turns: [...rest.turns, { ...withoutAlternatives(last), id, end: null }] }, "");
  }

  /** Goes to a variant: the conversation through this turn, and on from it as it was seen last. */
  chooseTurn(turnId: number): void {
    const { turns, inactiveTurns, contextStart, phase } = this.#store.getState();
    if (phase !== "idle") return;
    const tree = choosePath({ turns, inactiveTurns }, turnId);
    // The first sent turn is known only for turns of both paths.
    this.#show({ ...tree, contextStart: Math.min(contextStart, numInCommon(turns, tree.turns)) });
  }

  /** Chooses which of the newest question's answers the chat goes on with. */
  chooseAnswer(index: number): void {
    const { turns, phase } = this.#store.getState();
    const last = turns.at(-1);
    const chosen = last && phase === "idle" ? withAlternative(last, index) : null;
    if (chosen) this.#store.setState({ turns: [...turns.slice(0, -1), chosen] });
  }

  readonly #sendResults = (): void => {
    const { turns, inactiveTurns } = this.#store.getState();
    const last = turns.at(-1);
    if (last === undefined) return;
    this.#begin({ turns: [...turns.slice(0, -1), { ...last, end: null }], inactiveTurns }, "");
  };

  /** Stops the answer and keeps its text. A question that was not sent yet goes back into the composer. */
  stop(): void {
    if (this.calls.stop()) return;
    const run = this.#run;
    run?.abort.abort();
    const isNothingGained = run !== null && run.answers.length === run.startLength && this.#before.typed === "";
    if (this.#store.getState().phase !== "held" && !isNothingGained) return this.#end("stopped");
    this.#takeBack();
    this.#store.setState({ note: null });
  }

  /** Replaces the conversation by that of another chat. The pane must be idle. [an empty one of a new chat] */
  replaceChat({ id = randomId(), turns, inactiveTurns = [], contextStart, askedMs }: SavedChat = EMPTY): void {
    this.memory.nextTurnId = Math.max(this.memory.nextTurnId, nextTurnId({ turns, inactiveTurns }));
    this.#show({ id, turns, inactiveTurns, contextStart, askedMs: askedMs ?? null });
  }

  /** Stops the question in progress. The pane must not be used afterwards. */
  close(): void {
    this.#unsubscribe();
    this.#run?.abort.abort();
    this.#run = null;
    this.calls.stop();
  }

  /** Updates the newest answer's figures. Called four times per second. */
  refreshFigures(): void {
    const id = this.#store.getState().turns.at(-1)?.id ?? -1;
    const request = this.memory.requests.get(id);
    const fresh = request === undefined ? null : this.#context.requestStats.figuresOf(request);
    const shown = this.#store.getState().figures;
    if (fresh === null || (shown && isSameFigures(fresh, shown))) return;
    this.memory.addCost(id, fresh);
    this.#store.setState({ figures: fresh });
  }

  #askAt(at: number, text: string, turnSettings?: Settings): boolean {
    const { phase, turns } = this.#store.getState();
    const question = text.trim();
    if (question === "" || phase !== "idle") return false;
    this.#begin(this.#withTurnAt(at, question, turnSettings), question, at < turns.length ? "question" : null);
    return true;
  }

  /** Returns the tree with a new question at this place of the path. */
  #withTurnAt(at: number, question: string, turnSettings?: Settings): TurnTree {
    const { turns, inactiveTurns } = cutPath(this.#store.getState(), at);
    const id = this.memory.nextTurnId++;
    if (turnSettings) this.memory.turnSettings.set(id, turnSettings);
    return { turns: [...turns, { id, question, answer: "", end: null }], inactiveTurns };
  }

  #show(conversation: Conversation & Partial<PaneState>): void {
    this.#store.setState({ ...conversation, note: null, figures: null });
    this.refreshFigures();
  }

  /** Requests an answer to the path's newest turn. @param replaced the part of a turn that this replaces */
  #begin(tree: TurnTree, typed: string, replaced: "answer" | "question" | null = null): void {
    const { turns: before, inactiveTurns, contextStart: start } = this.#store.getState();
    const last = before.at(-1);
    this.#onFailed = replaced && last ? this.#context.onReplaced?.(this, replaced, last.id) : undefined;
    this.#before = { turns: before, inactiveTurns, contextStart: start, typed };
    const { remote, note } = this.#chooseAnswerer((tree.turns.at(-1)?.answer ?? "") !== "");
    const by = remote && remoteName(remote);
    const turns = [...tree.turns.slice(0, -1), ...tree.turns.slice(-1).map((turn) => answeredBy(turn, by))];
    const asked = { turns, inactiveTurns: tree.inactiveTurns, contextStart: start < turns.length ? start : 0 };
    this.#store.setState({ ...asked, askedMs: Date.now(), phase: "held", note, figures: null });
    if (remote === null) this.#followEngine(this.#context.engine.store.getState());
    else void this.#ask(remote);
  }

  /** Returns the pane's own choice; else the connection for long queues, if the local one is long; else this page's engine. */
  #chooseAnswerer(isContinued: boolean): { readonly remote: RemoteModel | null; readonly note: Note | null } {
    const { answerer } = this.#store.getState();
    const { spillOver } = this.asking.getState();
    const { connections, requestStats } = this.#context;
    const waitS = spillOver ? requestStats.expectedWaitS() : 0;
    const stays = spillOver === null || waitS <= spillOver.limitS;
    if (stays || (isContinued && !connections.canContinue(spillOver))) return { remote: answerer, note: null };
    return { remote: spillOver, note: spilledNote(remoteName(spillOver), waitS) };
  }

  readonly #followEngine = (state: EngineState): void => {
    const { phase, note } = this.#store.getState();
    if (state.status === "loading" || state.status === "ready") {
      if (note?.action === "start") this.notify(null);
    } else if (phase === "held") {
      this.#store.setState({ note: engineGoneNote(state.error, false) });
    }
    if (state.status === "ready" && phase === "held") void this.#ask(state.engine);
  };

  /** @param by an engine that is ready, or a server's model */
  async #ask(by: Answerer | RemoteModel): Promise<void> {
    const { turns, contextStart } = this.#store.getState();
    const last = turns.at(-1);
    const { id = 0, answer = "" } = last ?? {};
    this.memory.metrics.delete(id);
    const isRemote = "baseUrl" in by;
    const [engine, abort] = [isRemote ? null : by, new AbortController()];
    const runnerOf = (tool: string) => run.tools.find(({ definition }) => definition.function.name === tool)?.from;
    const answers = new GrowingAnswers(last ?? {}, runnerOf);
    const run: Run = { engine, abort, startLength: answer.length, answers, tools: [], contextStart };
    this.#run = run;
    const requestId = this.memory.requestNames.next({ pane: this.number, turn: turns.length });
    const asked = { ...this.asking.getState().settings, ...this.memory.turnSettings.get(id) };
    const settings = settingsFor(asked, isRemote, answer !== "");
    this.memory.requests.set(id, requestId);
    const started = this.memory.tokens.idsOf(id, answer);
    this.memory.tokens.begin(id, requestId, answer !== "");
    this.#store.setState({ phase: "queued" });
    try {
      // An answer that has begun is continued without tools.
      if (answer === "" && hasTools(settings)) run.tools = await this.calls.open(settings, abort.signal);
      const answerer = isRemote ? await this.#context.connections.open(by) : by;
      const tools = run.tools.map(({ definition }) => definition);
      const question = { answerer, turns, started, contextStart, settings, tools, requestId, signal: abort.signal };
      for await (const part of streamAnswer(question)) {
        if (this.#run !== run) return;
        run.contextStart = part.contextStart;
        run.answers.add(part);
        this.memory.tokens.add(id, part);
        if (part.metrics) this.memory.metrics.set(id, part.metrics);
        if (part.warnings && !last?.rounds) this.notify(warningsNote(part.warnings));
        this.#context.scheduleFlush(this.#showText);
      }
      if (this.#run === run) this.#end("interrupted");
    } catch (error) {
      if (this.#run === run) this.#fail(run, toErrorData(error));
    }
  }

  readonly #showText = () => {
    const run = this.#run;
    if (run === null) return;
    const { turns } = this.#store.getState();
    const last = turns.at(-1);
    const grown = last && run.answers.written(last);
    if (grown === undefined || grown === last) return;
    this.#store.setState({ phase: "streaming", turns: [...turns.slice(0, -1), grown], contextStart: run.contextStart });
  };

  /** @param end end of an answer that did not end by itself */
  #end(end: TurnEnd): void {
    if (this.#run === null) return;
    this.#showText();
    const { startLength, answers, tools } = this.#run;
    this.#run = null;
    const { turns } = this.#store.getState();
    const last = turns.at(-1);
    if (last === undefined) return;
    const ended = answers.in(last, end);
    // Of a prompt with tools no other answers can be computed, and calls are no words of the answer.
    if (tools.length > 0) this.memory.tokens.forget(last.id);
    this.#store.setState({ phase: "idle", turns: [...turns.slice(0, -1), ended] });
    this.refreshFigures();
    const names = waitingCalls(ended).map((call) => call.name);
    const said = names.length > 0 ? `The model calls ${names.join(", ")}.` : last.answer.slice(startLength);
    this.#context.announce(`Pane ${this.number}: ${end === "stopped" ? "Stopped." : said}`);
    if (ended.end === "calls") this.calls.goOn(ended);
  }

  #fail(run: Run, error: ChorusErrorData): void {
    const engineState = this.#context.engine.store.getState();
    const isReplaced = engineState.status !== "ready" || engineState.engine !== run.engine;
    const isGone = run.engine !== null && (isFatal(error) || isReplaced);
    const hasText = run.answers.length > run.startLength;
    if (hasText) {
      this.#end("interrupted");
      this.#store.setState({
        note: isGone ? engineGoneNote(error, true) : failedNote(error, " The text so far is kept."),
      });
    } else if (isGone) {
      this.#run = null;
      this.#store.setState({ phase: "held", note: engineGoneNote(error, false) });
      if (isReplaced) this.#followEngine(engineState);
    } else {
      this.#takeBack();
      this.#store.setState({ note: refusedNote(error, run.tools.length > 0) });
    }
  }

  /** Restores the conversation. The question goes into the composer, before newly typed text. */
  #takeBack(): void {
    this.#run = null;
    this.#onFailed?.();
    const { typed, ...conversation } = this.#before;
    const draft = [typed, this.#store.getState().draft].filter((text) => text.trim() !== "").join("\n");
    this.#store.setState({ ...conversation, phase: "idle", draft });
  }
}
