import { ChorusError, parseJson, type ChorusErrorCode } from "../../index.ts";
import { attempt } from "../attempt.ts";
import { fieldsOf } from "./fields-of.ts";
import { readText } from "./read-text.ts";

/** Most bytes read of an error's body. Proxies send whole pages. */
const MAX_ERROR_BYTES = 64 * 1024;
/** Most characters shown of a server's own message. */
const MAX_SHOWN = 400;
const MAX_RETRY_AFTER_MS = 30_000;

/** An error of a server, or of the way to it. */
export class RemoteError extends ChorusError {
  /** Whether the same request may succeed later, here or on the server that a balancer chooses next. */
  readonly isTransient: boolean = false;
  /** Whether the server is there, and has too much to do. */
  readonly isBusy: boolean = false;
  /** Whether it has nothing at this address. */
  readonly isMissing: boolean = false;
  /** Time that the server asks clients to wait, milliseconds; 0 if it does not say. */
  readonly retryAfterMs: number = 0;

  constructor(code: ChorusErrorCode, message: string, { cause, ...how }: Partial<RemoteError> = {}) {
    super(code, message, null, { cause });
    Object.assign(this, how);
  }
}

export async function errorOfResponse(response: Response, host: string): Promise<RemoteError> {
  const text = await readText(response, MAX_ERROR_BYTES).catch(() => "");
  const seconds = Number(response.headers.get("retry-after"));
  const retryAfterMs = seconds > 0 ? Math.min(MAX_RETRY_AFTER_MS, seconds * 1000) : 0;
  return errorOfStatus(response.status, messageIn(attempt(() => parseJson(text), null)), host, retryAfterMs);
}

/** Returns the error in a stream's data; null if there is none. */
export function errorInStream(data: unknown, host: string): RemoteError | null {
  const { error, object } = fieldsOf(data);
  if (error === undefined ? object !== "error" : error === null) return null;
  return errorOfStatus(statusIn(data) ?? 500, messageIn(data), host, 0);
}

function errorOfStatus(status: number, said: string, host: string, retryAfterMs: number): RemoteError {
  const words = said === "" ? "" : ` It says: ${said}${/[.!?]$/.test(said) ? "" : "."}`;
  if (status === 401 || status === 403) {
    const message = `${host} refuses access (${status}). Check the key of this connection.${words}`;
    return new RemoteError("server_access_denied", message);
  }
  if (status === 429) {
    const message = `${host} has too many requests at once (429).${words}`;
    return new RemoteError("queue_full", message, { isTransient: true, isBusy: true, retryAfterMs });
  }
  if (status >= 500) {
    const message = `${host} failed (${status}).${words}`;
    return new RemoteError("server_failed", message, { isTransient: true, isBusy: status === 503, retryAfterMs });
  }
  if (isAboutContext(said)) return new RemoteError("context_length_exceeded", `${host} refuses the prompt.${words}`);
  if (status === 404 && /model/i.test(said)) return new RemoteError("model_not_found", `${host}: ${said}`);
  if (status === 404 || status === 405) {
    const message = `${host} has no OpenAI API at this address (${status}). It often ends in /v1.${words}`;
    return new RemoteError("server_answer_invalid", message, { isMissing: true });
  }
  return new RemoteError("server_refused", `${host} refuses the request (${status}).${words}`);
}

/** Returns whether a message is about the context: vLLM's and OpenAI's, llama.cpp's, SGLang's and Ollama's words. */
function isAboutContext(said: string): boolean {
  return /maximum context length|context_length_exceeded|exceeds? the (?:available )?context|longer than the model's context|prompt is too long/i.test(
    said,
  );
}

/** Returns the message of an error in OpenAI's, Ollama's own, old vLLM's or FastAPI's shape. */
function messageIn(body: unknown): string {
  const { error, message, detail } = fieldsOf(body);
  const candidates = [fieldsOf(error)["message"] ?? error, message, detail];
  const said = candidates.find((candidate) => typeof candidate === "string") ?? "";
  return said.length > MAX_SHOWN ? `${said.slice(0, MAX_SHOWN)}…` : said;
}

/** Returns the status that an error in a stream would have had; vLLM and llama.cpp put it into `code`. */
function statusIn(body: unknown): number | null {
  const code = Number(fieldsOf(fieldsOf(body)["error"])["code"] ?? fieldsOf(body)["code"]);
  return Number.isInteger(code) && code >= 400 && code < 600 ? code : null;
}
