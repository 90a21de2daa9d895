import { toErrorData, type ChorusEngine, type ModelCard } from "../../../index.ts";
import { keyOfSequence } from "../chat/request-name.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import { tokensOfSequence, type RecordedRun, type RecordedSequence } from "./recorded-run.ts";

export interface ReplayResult {
  readonly status: "running" | "done";
  readonly numSame: number;
  /** The first different token, by its index in the answer. Null where an answer had ended. */
  readonly difference: { readonly token: number; readonly recorded: number | null; readonly now: number | null } | null;
}

const IDLE = {
  status: "idle" as "idle" | "running" | "done" | "stopped" | "failed",
  results: new Map() as ReadonlyMap<string, ReplayResult>,
  message: "",
};
export type ReplayState = Readonly<typeof IDLE>;

/** A long recording doesn't fill the engine's queue. */
const MAX_AT_ONCE = 16;

/** A request of the run, with its choices. */
type RecordedRequest = ReturnType<typeof requestsOf>[number];

/** Computes the answers of a recorded run again, and compares them token by token as they come. */
export class ReplayCheck {
  readonly #store = createStore<ReplayState>(() => IDLE);
  readonly store: ReadonlyStore<ReplayState> = this.#store;
  readonly #requests: readonly RecordedRequest[];
  #abort: AbortController | null = null;

  constructor(run: RecordedRun) {
    this.#requests = requestsOf(run);
  }

  /** Answers that can be computed again: those whose question was recorded. */
  get numAnswers(): number {
    return this.#requests.reduce((sum, { choices }) => sum + choices.length, 0);
  }

  /** Resolves when all is compared, stopped or failed. */
  async start(engine: Pick<ChorusEngine, "completions">): Promise<void> {
    this.stop();
    const { signal } = (this.#abort = new AbortController());
    this.#store.setState({ ...IDLE, status: "running" }, true);
    const waiting = [...this.#requests];
    const work = async () => {
      for (let request = waiting.shift(); request !== undefined; request = waiting.shift()) {
        // oxlint-disable-next-line no-await-in-loop -- limits the number at once
        await this.#ask(engine, request, signal);
      }
    };
    try {
      await Promise.all(Array.from({ length: MAX_AT_ONCE }, work));
      if (!signal.aborted) this.#store.setState({ status: "done" });
    } catch (error) {
      if (signal.aborted) return;
      this.#abort?.abort();
      this.#store.setState({ status: "failed", message: toErrorData(error).message });
    }
  }

  stop(): void {
    this.#abort?.abort();
    this.#abort = null;
    if (this.store.getState().status === "running") this.#store.setState({ status: "stopped" });
  }

  async #ask(
    engine: Pick<ChorusEngine, "completions">,
    { body: { max_tokens, min_tokens, ...body }, choices }: RecordedRequest,
    signal: AbortSignal,
  ): Promise<void> {
    const now = choices.map((): number[] => []);
    const show = (isOver: boolean) => {
      const results = new Map(this.store.getState().results);
      for (const [i, choice] of choices.entries())
        results.set(keyOfSequence(choice), compare(choice, now[i] ?? [], isOver));
      if (!signal.aborted) this.#store.setState({ results });
    };
    const longest = Math.max(...choices.map((choice) => tokensOfSequence(choice).length));
    const most = choices.every(isWhole) ? max_tokens : Math.min(max_tokens, longest);
    const stream = await engine.completions.create(
      {
        ...body,
        max_tokens: most,
        ...(min_tokens && { min_tokens: Math.min(min_tokens, most) }),
        stream: true,
        return_token_ids: true,
      },
      { signal },
    );
    for await (const chunk of stream) {
      for (const { index, token_ids: tokenIds = [] } of chunk.choices) now[index]?.push(...tokenIds);
      show(false);
    }
    show(true);
  }
}

/** Whether a recorded answer ended by itself. */
function isWhole({ end }: RecordedSequence): boolean {
  return end !== null && end.reason !== "abort";
}

/** Compares an answer so far with the recorded one. */
function compare(choice: RecordedSequence, now: readonly number[], isOver: boolean): ReplayResult {
  const recorded = tokensOfSequence(choice);
  const most = isOver ? Math.max(now.length, recorded.length) : now.length;
  const compared = isWhole(choice) ? most : Math.min(most, recorded.length);
  let token = 0;
  while (token < compared && now[token] === recorded[token]) token++;
  const difference = { token, recorded: recorded[token] ?? null, now: now[token] ?? null };
  return { status: isOver ? "done" : "running", numSame: token, difference: token < compared ? difference : null };
}

/** Returns the requests with a recorded question and at least one token. */
function requestsOf({ sequences }: RecordedRun) {
  type Body = NonNullable<RecordedSequence["requested"]>["body"];
  const byId = new Map<string, { body: Body; choices: RecordedSequence[] }>();
  for (const sequence of sequences) {
    if (sequence.requested === null) continue;
    const request = byId.get(sequence.requestId) ?? { body: sequence.requested.body, choices: [] };
    request.choices[sequence.index] = sequence;
    byId.set(sequence.requestId, request);
  }
  return [...byId.values()].filter(({ choices }) => choices.some((choice) => tokensOfSequence(choice).length > 0));
}

/** Returns why a model can't compute a recording again; null if it can. */
export function refusalOf(recorded: ModelCard, model: ModelCard): string | null {
  const isSame = (["name", "numParameters", "vocabSize", "numLayers"] as const).every(
    (name) => recorded[name] === model[name],
  );
  if (isSame) return null;
  return `This run was recorded with ${recorded.name}, and the chats run ${model.name}. Choose ${recorded.name} in the chats first.`;
}

/** Returns changes since then that may change tokens: "q8 instead of f16"; empty if there are none. */
export function changesSince(recorded: ModelCard, model: ModelCard): string {
  const factsOf = ({ mixture, dtype, activationDtype, kvCacheDtype, adapter }: ModelCard) => [
    mixture ?? dtype,
    activationDtype,
    kvCacheDtype,
    adapter,
  ];
  const before = factsOf(recorded);
  return factsOf(model)
    .flatMap((now, i) =>
      now === before[i]
        ? []
        : [`${["weights in ", "activations in ", "cache in ", ""][i]}${now} instead of ${before[i]}`],
    )
    .join(", ");
}
