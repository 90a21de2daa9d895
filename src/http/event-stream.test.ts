import { describe, expect, it } from "vitest";

import { CHUNK_EVENTS, eventStream, MAX_UNREAD_BYTES } from "./event-stream.ts";

const never = new AbortController().signal;

/** Items of a kibibyte each, without end, and whether anybody still wants them. */
function endless() {
  const text = "a".repeat(1024);
  const state = { taken: 0, isLeft: false };
  const items: AsyncIterableIterator<object> = {
    [Symbol.asyncIterator]: () => items,
    async next() {
      await new Promise((resolve) => setImmediate(resolve));
      if (state.isLeft) return { done: true, value: undefined };
      state.taken += 1;
      return { done: false, value: { text } };
    },
    return() {
      state.isLeft = true;
      return Promise.resolve({ done: true, value: undefined });
    },
  };
  return { items, state };
}

describe("server-sent events", () => {
  it("go on whether they are read or not, and wait in bounded memory", async () => {
    const { items, state } = endless();
    const { body } = eventStream(items, CHUNK_EVENTS, never);
    await expect.poll(() => state.isLeft).toBe(true);
    expect(state.taken * 1024).toBeLessThanOrEqual(MAX_UNREAD_BYTES);
    await expect(body!.getReader().read()).rejects.toMatchObject({ code: "reader_too_slow" });
  });

  it("are cut off for nobody who reads on", async () => {
    const { items, state } = endless();
    const { body } = eventStream(items, CHUNK_EVENTS, never);
    const reader = body!.getReader();
    let bytes = 0;
    while (bytes < 2 * MAX_UNREAD_BYTES) bytes += (await reader.read()).value?.length ?? NaN;
    expect(state.isLeft).toBe(false);
    await reader.cancel();
    expect(state.isLeft).toBe(true);
  });
});
