import type { ChatCompletionRequest } from "./openai.ts";

export type RenderChatRequest = Pick<
  ChatCompletionRequest,
  "messages" | "continue_final_message" | "chat_template_kwargs"
>;

/** The prompt that a chat becomes: its messages in the model's own template, or in the frame that stands in for one. */
export interface RenderedChat {
  /** As the model reads it; control tokens by their names. */
  readonly text: string;
  readonly tokenIds: readonly number[];
}
