import type { TokenizeResponse } from "../protocol/tokenize.ts";
import type { TokenNames } from "./token-names.ts";
import { textEncoder } from "./completion-request.ts";
import { CHAT_PROMPT_FIELDS, parseChatPrompt } from "./chat-request.ts";
import type { RequestContext } from "./parsed-request.ts";
import { checkModel } from "./shared-fields.ts";
import { Fields, refused } from "./validate.ts";

/** vLLM's, which changes nothing here: chats always end with the answer's opening. */
const NEUTRAL_FIELDS = ["add_generation_prompt"] as const;

/** Returns the tokens that `prompt`, or a chat's `messages`, become. @throws ChorusError naming the field */
export function tokenize(body: unknown, context: RequestContext, names: TokenNames): TokenizeResponse {
  const fields = new Fields(body);
  fields.refuseOthers(
    ["model", "prompt", ...CHAT_PROMPT_FIELDS, "add_special_tokens", "parse_special_tokens", "return_token_strs"],
    NEUTRAL_FIELDS,
  );
  checkModel(fields, context.modelName);
  const wantsTexts = fields.boolean("return_token_strs") ?? false;
  const tokens = tokensOf(fields, context);
  return {
    count: tokens.length,
    max_model_len: context.limits.maxModelLen,
    tokens,
    token_strs: wantsTexts ? tokens.map((id) => names.tokenText(id)) : null,
  };
}

function tokensOf(fields: Fields, context: RequestContext): number[] {
  const prompt = fields.string("prompt");
  const hasMessages = fields.get("messages") !== undefined;
  if (prompt !== undefined && hasMessages)
    throw refused("prompt", "prompt and messages can't both be tokenized; give one of them.");
  const encode = textEncoder(fields, context);
  if (hasMessages) return parseChatPrompt(fields, context.chatFormat);
  return [...encode("prompt", fields.needed("prompt", prompt)).tokenIds];
}
