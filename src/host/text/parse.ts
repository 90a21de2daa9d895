import { parseChatRequest } from "../../api/chat-request.ts";
import { parseCompletionRequest } from "../../api/completion-request.ts";
import type { ParsedRequest, RequestContext } from "../../api/parsed-request.ts";
import type { GenerationRequest } from "../../protocol/service.ts";

/** @throws ChorusError naming the field */
export function parse({ endpoint, body }: GenerationRequest, context: RequestContext): ParsedRequest {
  return endpoint === "chat.completions" ? parseChatRequest(body, context) : parseCompletionRequest(body, context);
}
