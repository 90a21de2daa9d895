import type { ChorusError } from "../../src/protocol/errors.ts";
import type { CompletionStream } from "../../src/protocol/engine.ts";
import type { ChatCompletionChunk, Completion } from "../../src/protocol/openai.ts";

/** Chunks pushed on one side, awaited on the other. */
export class ChunkQueue {
  #chunks: ChatCompletionChunk[] = [];
  #error: ChorusError | null = null;
  #wake: () => void = () => {};

  readonly push = (chunk: ChatCompletionChunk): void => {
    this.#chunks.push(chunk);
    this.#wake();
  };

  readonly fail = (error: ChorusError): void => {
    this.#error = error;
    this.#wake();
  };

  async *read(): AsyncGenerator<ChatCompletionChunk, undefined> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        yield chunk;
        if (chunk.choices[0]?.finish_reason) return;
      } else if (this.#error) throw this.#error;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

/** A chat's chunks as those of a completion. */
export async function* asTexts(chunks: CompletionStream<ChatCompletionChunk>): AsyncGenerator<Completion, undefined> {
  for await (const { choices, ...chunk } of chunks) {
    const texts = choices.map(({ delta, finish_reason, ...choice }) => ({
      ...choice,
      finish_reason: finish_reason === "tool_calls" || finish_reason === "function_call" ? "stop" : finish_reason,
      logprobs: null,
      text: delta.content ?? "",
    }));
    yield { ...chunk, object: "text_completion", choices: texts };
  }
}
