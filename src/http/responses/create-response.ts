import { ChorusError } from "../../protocol/errors.ts";
import { eventStream } from "../event-stream.ts";
import type { ServedRequest } from "../served-engine.ts";
import { ResponseEvents } from "./response-events.ts";
import { responseObject, type ResponseHead } from "./response-object.ts";
import { parseResponseRequest, renamed } from "./response-request.ts";

/** Answers POST /v1/responses: a chat answer in OpenAI's newer shape. Nothing is stored. */
export async function createResponse({ engine, request, requestId }: ServedRequest, body: unknown): Promise<Response> {
  const parsed = parseResponseRequest(body);
  const chat = { request_id: requestId, ...parsed.chat };
  const head: ResponseHead = {
    id: `resp_${requestId}`,
    messageId: `msg_${requestId}`,
    reasoningId: `rs_${requestId}`,
    createdAt: Math.floor(Date.now() / 1000),
    model: engine.model.name,
    request: parsed,
  };
  const { signal } = request;
  const { completions } = engine.chat;
  try {
    if (chat.stream === true) {
      const chunks = await completions.create(
        { ...chat, stream: true, stream_options: { include_usage: true } },
        { signal },
      );
      return eventStream(chunks, new ResponseEvents(head), signal);
    }
    const { choices, usage, metrics } = await completions.create({ ...chat, stream: false }, { signal });
    const [choice] = choices;
    const { content: text = "", reasoning_content: reasoning = "" } = choice?.message ?? {};
    const finishReason = choice?.finish_reason ?? "abort";
    return Response.json(responseObject(head, { text, reasoning, finishReason, usage, metrics }));
  } catch (error) {
    throw error instanceof ChorusError ? renamed(error) : error;
  }
}
