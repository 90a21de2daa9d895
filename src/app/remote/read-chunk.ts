import { parseJson, type FinishReason, type TokenLogprob, type ToolCallDelta, type TopLogprob } from "../../index.ts";
import { attempt } from "../attempt.ts";
import { fieldsOf, listOf, textOf } from "./fields-of.ts";
import { errorInStream, RemoteError } from "./remote-error.ts";

export interface RemoteChunk {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly ToolCallDelta[];
  readonly logprobs: readonly TokenLogprob[] | null;
  readonly finishReason: FinishReason | null;
  /** Tokens of the whole answer so far, if the server counts them. */
  readonly completionTokens: number | null;
}

/** Reads and checks an event's data, or an answer that came at once. @throws RemoteError for errors in it, and for no chunk */
export function readChunk(data: string, host: string): RemoteChunk {
  const value = parse(data, host);
  const error = errorInStream(value, host);
  if (error) throw error;
  const choice = fieldsOf(listOf(fieldsOf(value)["choices"])[0]);
  // Streamed or whole, of a chat or of a text.
  const part = fieldsOf(choice["delta"] ?? choice["message"]);
  const counted = fieldsOf(fieldsOf(value)["usage"])["completion_tokens"];
  return {
    text: textOf(part["content"] ?? choice["text"]),
    // vLLM's, SGLang's and llama.cpp's name, and the newer one of Ollama and vLLM.
    reasoning: textOf(part["reasoning_content"] ?? part["reasoning"]),
    calls: listOf(part["tool_calls"]).map(callOf),
    logprobs: logprobsOf(choice["logprobs"]),
    finishReason: finishReasonOf(choice["finish_reason"]),
    completionTokens: typeof counted === "number" ? counted : null,
  };
}

function parse(data: string, host: string): unknown {
  const value: unknown = attempt(() => parseJson(data), null);
  if (typeof value === "object" && value !== null) return value;
  throw new RemoteError("server_answer_invalid", `${host} sent an unexpected response: ${data.slice(0, 80)}`);
}

/** A part of a call, or, in an answer that came at once, a whole one without a number. */
function callOf(value: unknown, place: number): ToolCallDelta {
  const { index, id, function: called } = fieldsOf(value);
  const { name, arguments: given } = fieldsOf(called);
  return {
    index: typeof index === "number" ? index : place,
    id: textOf(id),
    // Ollama's own form has an object.
    function: { name: textOf(name), arguments: typeof given === "object" ? JSON.stringify(given) : textOf(given) },
  };
}

/** Others ("tool_calls", "eos_token") end an answer as "stop" does. */
function finishReasonOf(value: unknown): FinishReason | null {
  if (typeof value !== "string" || value === "") return null;
  return value === "length" || value === "abort" ? value : "stop";
}

function logprobsOf(value: unknown): readonly TokenLogprob[] | null {
  const { content } = fieldsOf(value);
  if (!Array.isArray(content)) return null;
  return content.flatMap((entry: unknown) => {
    const own = logprobOf(entry);
    return own
      ? [{ ...own, top_logprobs: listOf(fieldsOf(entry)["top_logprobs"]).flatMap((top) => logprobOf(top) ?? []) }]
      : [];
  });
}

function logprobOf(value: unknown): TopLogprob | null {
  const { token, logprob, bytes } = fieldsOf(value);
  if (typeof token !== "string" || typeof logprob !== "number") return null;
  return { token, logprob, bytes: listOf(bytes).filter((byte) => typeof byte === "number") };
}
