import type { AnswerWarning, ChorusErrorCode, ChorusErrorData } from "../../../index.ts";
import { MAX_PANES, titleOfChat, type SavedChat } from "../workspace/saved-workspace.ts";

/** A note above a pane's composer, about an event and its remedy. */
export interface Note {
  readonly kind: "info" | "warn" | "bad";
  readonly title: string;
  readonly body: string;
  /** The note's button. start: starts the engine. [none] */
  readonly action?: "start";
  /** Whether the question went back into the composer. [no] */
  readonly isUnsent?: true;
}

const FATAL_CODES: ReadonlySet<ChorusErrorCode> = new Set([
  "device_lost",
  "out_of_memory",
  "worker_died",
  "engine_disposed",
]);

export function isFatal(error: ChorusErrorData): boolean {
  return FATAL_CODES.has(error.code);
}

const BAD_REQUEST = "This can't be asked";
const TITLES: Record<ChorusErrorCode, string> = {
  missing_required_parameter: BAD_REQUEST,
  unknown_parameter: BAD_REQUEST,
  unsupported_parameter: BAD_REQUEST,
  invalid_type: BAD_REQUEST,
  invalid_value: BAD_REQUEST,
  context_length_exceeded: "Too long for this model",
  cache_capacity_exceeded: "Too long for the cache",
  queue_full: "Too many questions at once",
  device_lost: "The GPU was lost",
  out_of_memory: "Not enough memory",
  worker_died: "The engine stopped",
  engine_disposed: "The engine stopped",
  model_not_found: "The model was not found",
  model_download_failed: "The model could not be downloaded",
  model_invalid: "The model's files are damaged",
  model_unsupported: "This model can't run here",
  model_numerics: "The model's results are not numbers",
  model_access_denied: "This model is private or gated",
  model_in_use: "This model is in use",
  storage_full: "Not enough space on the disk",
  server_unreachable: "The server can't be reached",
  server_access_denied: "The server refuses access",
  server_refused: "The server refuses this request",
  server_failed: "The server failed",
  server_answer_invalid: "The server's answer can't be read",
  webgpu_unavailable: "No WebGPU",
  wasm_unavailable: "No WebAssembly",
  kernel_refused: "The GPU's compiler refused a kernel",
  wrong_answers: "Wrong answers",
  internal_error: "Something went wrong in Chorus",
};

/** Says what is wrong where a model is named, by the field. */
const NAMING_TITLES: Readonly<Record<string, string>> = {
  model: "This is no model's address",
  revision: "This is no revision",
  token: "This is no access token",
  hubUrl: "This is no hub's address",
};

export function titleOf({ code, param }: ChorusErrorData): string {
  return (code === "invalid_value" && NAMING_TITLES[param ?? ""]) || TITLES[code];
}

const info = (title: string, body: string): Note => ({ kind: "info", title, body });

export function noRoomNote(): Note {
  return { kind: "warn", title: `${MAX_PANES} panes are open already`, body: "Close one of them, and try again." };
}

export function spilledNote(by: string, waitS: number): Note {
  const wait = `about ${Math.round(waitS)} s`;
  return info("Answered elsewhere", `This page's queue would have taken ${wait}, so this question went to ${by}.`);
}

export function warningsNote(warnings: readonly AnswerWarning[]): Note {
  return info("Calls may differ from a tool’s schema", warnings.map(({ message }) => message).join(" "));
}

export function roundsNote(numRounds: number): Note {
  return info(`${numRounds} rounds of calls`, "The model must answer now. Ask again to let it call more.");
}

export function copiedNote(copy: Pick<SavedChat, "title" | "turns">): Note {
  const body = `This pane goes on as a chat of its own, “${titleOfChat(copy)}”. The other tab’s is in the list of chats.`;
  return info("Another tab changed this chat, too", body);
}

/** Says that the engine refused a question, which is back in the composer. */
export function refusedNote(error: ChorusErrorData, hasTools = false): Note {
  const isAboutTools = hasTools && error.code === "server_refused";
  const more = isAboutTools ? " Maybe it takes no tools: the pane's settings switch them off." : "";
  return { ...failedNote(error, more), isUnsent: true };
}

export function failedNote(error: ChorusErrorData, more = ""): Note {
  return { kind: "bad", title: titleOf(error), body: `${error.message}${more}` };
}

/** Says that the engine died while this pane was being answered (`hasText`) or had a question waiting. */
export function engineGoneNote(error: ChorusErrorData, hasText: boolean): Note {
  const kept = hasText
    ? " The text so far is kept. Start again to go on chatting."
    : " The question is kept and is sent when the engine runs again.";
  return { ...failedNote(error, kept), action: "start" };
}
