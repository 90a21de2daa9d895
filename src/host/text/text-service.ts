import { createChatFormat } from "../../api/chat-format.ts";
import type { RequestContext } from "../../api/parsed-request.ts";
import { renderChat } from "../../api/render-chat.ts";
import { tokenize } from "../../api/tokenize.ts";
import { ModelTokenizer } from "../../files/tokenizer.ts";
import { toErrorData } from "../../protocol/errors.ts";
import { parse } from "./parse.ts";
import { UNSEEDED, type TextAnswer, type TextCall, type TextValue } from "./text-calls.ts";

/** The thread's side: templates and tokenizing, plain data in, plain data out. */
export class TextService {
  #model: { readonly tokenizer: ModelTokenizer; readonly context: RequestContext } | null = null;

  answer(call: TextCall): TextAnswer {
    try {
      return { value: this.#valueOf(call) };
    } catch (error) {
      return { error: toErrorData(error) };
    }
  }

  #valueOf(call: TextCall): TextValue {
    if (call.type === "start") {
      const { tokenizer: source, frame, context } = call.model;
      const tokenizer = new ModelTokenizer(source);
      const chatFormat = createChatFormat(tokenizer, frame);
      this.#model = { tokenizer, context: { ...context, tokenizer, chatFormat, nextSeed: () => UNSEEDED } };
      return null;
    }
    if (this.#model === null) throw new Error("start comes first");
    const { tokenizer, context } = this.#model;
    switch (call.type) {
      case "parse":
        return parse(call.request, context);
      case "render":
        return renderChat(call.body, context.chatFormat, tokenizer);
      case "tokenize":
        return tokenize(call.body, context, tokenizer);
    }
  }
}
