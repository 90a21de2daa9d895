import type { Chunk } from "./service.ts";

/** The fields that are the same in every chunk of an answer. */
export type ChunkHead = Pick<Chunk, "id" | "created" | "model" | "object">;

/** Returns the chunk that adds text to a choice, and nothing else. Most chunks do, so only their text crosses to the page. */
export function textChunk({ id, created, model, object }: ChunkHead, choice: number, text: string): Chunk {
  const rest = { logprobs: null, finish_reason: null };
  if (object === "text_completion") return { id, created, model, object, choices: [{ index: choice, text, ...rest }] };
  return { id, created, model, object, choices: [{ index: choice, delta: { content: text }, ...rest }] };
}
