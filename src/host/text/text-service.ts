import { createChatFormat, type ChatFormat } from "../../api/chat-format.ts";
import { parseChatRequest } from "../../api/chat-request.ts";
import { parseCompletionRequest } from "../../api/completion-request.ts";
import type { RequestContext } from "../../api/parsed-request.ts";
import { renderChat } from "../../api/render-chat.ts";
import { tokenize } from "../../api/tokenize.ts";
import { ModelTokenizer } from "../../files/tokenizer.ts";
import { UNSEEDED, type TextCall, type TextContext, type TextValue } from "./text-calls.ts";

/** The thread's side: templates and tokenizing, plain data in, plain data out. */
export class TextService {
  #model: { readonly tokenizer: ModelTokenizer; readonly chatFormat: ChatFormat } | null = null;

  /** @throws ChorusError naming the field */
  answer(call: TextCall): TextValue {
    if (call.type === "start") {
      const tokenizer = new ModelTokenizer(call.model.tokenizer);
      const chatFormat = createChatFormat(tokenizer, call.model.frame);
      this.#model = { tokenizer, chatFormat };
      return { readsSystemPrompt: chatFormat.readsSystemPrompt };
    }
    if (this.#model === null) throw new Error("start comes first");
    const { tokenizer, chatFormat } = this.#model;
    const whole = (context: TextContext): RequestContext => ({
      ...context,
      tokenizer,
      chatFormat,
      nextSeed: () => UNSEEDED,
    });
    switch (call.type) {
      case "parse": {
        const { endpoint, body } = call.request;
        const context = whole(call.context);
        return endpoint === "chat.completions"
          ? parseChatRequest(body, context)
          : parseCompletionRequest(body, context);
      }
      case "render":
        return renderChat(call.body, chatFormat, tokenizer);
      case "tokenize":
        return tokenize(call.body, whole(call.context), tokenizer);
    }
  }
}
