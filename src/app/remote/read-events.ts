import { createParser } from "eventsource-parser";

import { withinTime } from "../within-time.ts";
import { RemoteError } from "./remote-error.ts";
import { chunksOf } from "./read-text.ts";

/** Most characters of one event. A server that never ends a line would otherwise fill the memory. */
const MAX_EVENT_CHARS = 4 * 2 ** 20;

/**
 * Yields the data of server-sent events, up to "[DONE]" or the end of the body. Skips comments and keep-alives, and joins
 * characters that were cut in two.
 * @param silenceMs longest time without a byte
 * @throws RemoteError for a body that breaks off, stays silent, or has too long an event
 */
export async function* readEvents(response: Response, host: string, silenceMs: number): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let events: string[] = [];
  let isTooLong = false;
  const parser = createParser({
    maxBufferSize: MAX_EVENT_CHARS,
    onEvent: ({ data }) => events.push(data),
    onError({ type, field, value }) {
      if (type === "max-buffer-size-exceeded") isTooLong = true;
      // Older llama.cpp sends errors in a field of that name, and not as data.
      if (type === "unknown-field" && field === "error" && value !== undefined) events.push(`{"error":${value}}`);
    },
  });
  const chunks = chunksOf(response);
  const silent = () => {
    const message = `${host} has sent nothing for ${Math.round(silenceMs / 1000)} seconds.`;
    return new RemoteError("server_failed", message, { isTransient: true });
  };
  try {
    for (;;) {
      const { done, value } = await withinTime(chunks.next(), silenceMs, silent);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      if (isTooLong) throw new RemoteError("server_answer_invalid", `${host} sent an event that is too long.`);
      const ready = events;
      events = [];
      for (const data of ready) {
        if (data === "[DONE]") return;
        yield data;
      }
    }
  } finally {
    void chunks.return().catch(() => undefined);
  }
}
