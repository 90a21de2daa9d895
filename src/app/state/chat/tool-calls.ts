import { toErrorData, type ChatTool } from "../../../index.ts";
import { hasTools } from "../settings/question-settings.ts";
import type { Settings } from "../settings/settings.ts";
import type { StoreApi } from "../store.ts";
import type { CallPlace, Tool, Toolbox } from "../tools/toolbox.ts";
import type { AnswerMemory } from "./answer-memory.ts";
import type { Turn } from "./conversation.ts";
import { roundsNote } from "./note.ts";
import type { PaneState } from "./pane-state.ts";
import { MAX_ROUNDS, waitingCalls, withResult, type Call } from "./tool-rounds.ts";

interface ToolCallsOptions {
  readonly store: StoreApi<PaneState>;
  /** Knows the tools that run without a click, as `#trustName` names them. */
  readonly memory: Pick<AnswerMemory, "trusted">;
  readonly engine: () => CallPlace["engine"];
  readonly toolbox: (() => Promise<Toolbox>) | undefined;
  /** Called when all calls of the newest round have results. */
  readonly onResults: () => void;
}

/** A pane's calls of tools. They wait in its newest turn until a person runs or refuses them. */
export class ToolCalls {
  readonly #options: ToolCallsOptions;
  /** Ends the calls that run. */
  #running: AbortController | null = null;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
  }

  /** Returns the tools of these settings. Servers are asked for theirs. @throws RemoteError */
  async open(settings: Settings, signal: AbortSignal): Promise<readonly Tool[]> {
    return (await this.#options.toolbox?.())?.open(settings, signal) ?? [];
  }

  /** Returns the tools of these settings, of servers those that they have listed. */
  async known(settings: Settings): Promise<readonly ChatTool[]> {
    const toolbox = hasTools(settings) ? await this.#options.toolbox?.() : undefined;
    return toolbox?.known(settings).map(({ definition }) => definition) ?? [];
  }

  /** Runs one of the newest calls. If that fails, the error is its result. */
  async run(id: string): Promise<void> {
    const { store, toolbox, engine } = this.#options;
    const { turns, phase, calling, id: chatId } = store.getState();
    const call = waitingCalls(turns.at(-1) ?? {}).find((one) => one.id === id);
    if (!call || !toolbox || (phase !== "idle" && phase !== "calling") || calling.includes(id)) return;
    const abort = (this.#running ??= new AbortController());
    store.setState({ phase: "calling", calling: [...calling, id] });
    const run = async () => (await toolbox()).run(call, { chatId, engine: engine(), signal: abort.signal });
    const result = await run().catch((error: unknown) => `Error: ${toErrorData(error).message}`);
    if (this.#running === abort) this.give(id, result);
  }

  /** Runs this call, and those of the same tool from now on, until the page closes. */
  trust(call: Call): void {
    this.#options.memory.trusted.add(this.#trustName(call));
    void this.run(call.id);
  }

  /** Gives a call its result: what the tool returned, what a person typed, or that it is not run. */
  give(id: string, result: string): void {
    const { store } = this.#options;
    const { turns, phase, calling: before } = store.getState();
    const last = turns.at(-1);
    if (last === undefined || (phase !== "idle" && phase !== "calling")) return;
    if (!waitingCalls(last).some((call) => call.id === id)) return;
    const calling = before.filter((other) => other !== id);
    if (calling.length === 0) this.#running = null;
    const given = withResult(last, id, result);
    const goesOn = waitingCalls(given).length === 0 && mayGoOn(given);
    const isIdle = calling.length === 0 && !goesOn;
    store.setState({ turns: [...turns.slice(0, -1), given], calling, phase: isIdle ? "idle" : phase });
    if (goesOn) this.#sendResults();
  }

  #sendResults(): void {
    const { store, onResults } = this.#options;
    onResults();
    const { rounds = [] } = store.getState().turns.at(-1) ?? {};
    if (rounds.length === MAX_ROUNDS) store.setState({ note: roundsNote(MAX_ROUNDS) });
  }

  /** Runs the trusted ones of a turn's new calls. If none can run, the model gets to know why. */
  goOn(turn: Turn): void {
    if (!mayGoOn(turn)) return;
    const waiting = waitingCalls(turn);
    if (waiting.length === 0) this.#sendResults();
    for (const call of waiting) if (this.#options.memory.trusted.has(this.#trustName(call))) void this.run(call.id);
  }

  /** Ends the calls that run: they wait again. Returns whether there were any. */
  stop(): boolean {
    if (this.#running === null) return false;
    this.#running.abort();
    this.#running = null;
    this.#options.store.setState({ phase: "idle", calling: [] });
    return true;
  }

  /** Names a tool in this chat: a new one begins without trust. */
  #trustName({ from, name }: Call): string {
    return `${this.#options.store.getState().id} ${from} ${name}`;
  }
}

/** Some servers go on calling although they may not. From then on each step takes a click. */
function mayGoOn({ rounds = [] }: Turn): boolean {
  return rounds.length <= MAX_ROUNDS;
}
