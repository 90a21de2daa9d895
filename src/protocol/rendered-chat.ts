import type { ChatCompletionRequest } from "./openai.ts";

export type RenderChatRequest = Pick<
  ChatCompletionRequest,
  "messages" | "tools" | "tool_choice" | "continue_final_message" | "chat_template_kwargs"
>;

/** The prompt that a chat becomes, by the model's own template or by the frame for a model without one. */
export interface RenderedChat {
  /** The text that the model reads, with control tokens by name. */
  readonly text: string;
  readonly tokenIds: readonly number[];
}
