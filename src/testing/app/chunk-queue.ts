import type { ChorusError } from "../../protocol/errors.ts";
import type { ChatCompletionChunk } from "../../protocol/openai.ts";

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
