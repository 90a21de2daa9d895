/** Returns a response's text, and stops reading after `maxBytes`. */
export async function readText(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let numBytes = 0;
  for await (const bytes of chunksOf(response)) {
    text += decoder.decode(bytes, { stream: true });
    numBytes += bytes.length;
    if (numBytes > maxBytes) break;
  }
  return text + decoder.decode();
}

/** Yields the pieces of a body. (Not every browser can iterate over a stream.) Leaving the loop cancels the rest. */
export async function* chunksOf({ body }: Response): AsyncGenerator<Uint8Array, void> {
  if (body === null) return;
  const reader = body.getReader();
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value;
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
