import { createChatFormat, type ChatFormat } from "../../api/chat-format.ts";
import { parseChatRequest, renderChat } from "../../api/chat-request.ts";
import { parseCompletionRequest } from "../../api/completion-request.ts";
import type { RequestContext } from "../../api/parsed-request.ts";
import { tokenize } from "../../api/tokenize.ts";
import { ModelTokenizer } from "../../files/tokenizer.ts";
import {
  UNSEEDED,
  type PackedTextModel,
  type TextCall,
  type TextContext,
  type TextModel,
  type TextValue,
} from "./text-calls.ts";

/** The thread's side: templates and tokenizing, plain data in, plain data out. */
export class TextService {
  #model: { readonly tokenizer: ModelTokenizer; readonly chatFormat: ChatFormat } | null = null;
  /** Until it is packed. */
  #source: TextModel | null = null;

  /** @throws ChorusError naming the field */
  async answer(call: TextCall): Promise<TextValue> {
    if (call.type === "start") {
      const isPacked = call.model instanceof Uint8Array;
      const source = isPacked ? await unpack(call.model) : call.model;
      const tokenizer = new ModelTokenizer(source.tokenizer);
      const chatFormat = createChatFormat(tokenizer, source.frame);
      this.#source = isPacked ? null : source;
      this.#model = { tokenizer, chatFormat };
      return { readsSystemPrompt: chatFormat.readsSystemPrompt };
    }
    if (call.type === "pack") {
      const source = this.#source;
      this.#source = null;
      return pack(source);
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

async function pack(model: TextModel | null): Promise<PackedTextModel> {
  const packed = new Blob([JSON.stringify(model)]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(packed).arrayBuffer());
}

async function unpack(packed: PackedTextModel): Promise<TextModel> {
  const text = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return (await new Response(text).json()) as TextModel;
}
