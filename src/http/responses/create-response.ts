import type { CompletionStream } from "../../protocol/engine.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { ResponseAnswer, ResponseEvent } from "../../protocol/openai-responses.ts";
import { mapStream } from "../map-stream.ts";
import type { ServedEngine } from "../served-engine.ts";
import { ResponseEvents } from "./response-events.ts";
import type { ResponseHead } from "./response-object.ts";
import { parseResponseRequest, renamed } from "./response-request.ts";

/**
 * Answers a request to /v1/responses: a chat answer in OpenAI's newer shape. Nothing is stored.
 * @param id part of the answer's ids, and of the engine's reports unless the request names itself
 */
export async function createResponse(
  engine: Pick<ServedEngine, "model" | "chat">,
  body: unknown,
  { id, signal }: { readonly id: string; readonly signal?: AbortSignal | undefined },
): Promise<ResponseAnswer | CompletionStream<ResponseEvent>> {
  const parsed = parseResponseRequest(body);
  const chat = { request_id: id, ...parsed.chat };
  const head: ResponseHead = {
    id: `resp_${id}`,
    createdAt: Math.floor(Date.now() / 1000),
    model: engine.model.name,
    request: parsed,
  };
  const options = signal ? { signal } : {};
  const { completions } = engine.chat;
  const events = new ResponseEvents(head);
  try {
    if (chat.stream === true) {
      const streamed = { ...chat, stream: true, stream_options: { include_usage: true } } as const;
      return mapStream(await completions.create(streamed, options), events.of, events.end);
    }
    const { choices, ...whole } = await completions.create({ ...chat, stream: false }, options);
    events.of({ ...whole, choices: choices.map(({ message, ...choice }) => ({ ...choice, delta: message })) });
    events.end();
    return events.response();
  } catch (error) {
    throw error instanceof ChorusError ? renamed(error, parsed) : error;
  }
}
