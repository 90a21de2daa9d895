import { byteSize } from "../protocol/byte-size.ts";
import { describeError, HttpError } from "./errors.ts";

/** Bytes that may wait for one slow reader. Beyond it, the reader is cut off and its request aborted. */
export const MAX_UNREAD_BYTES = 4 * 2 ** 20;

/** Writes an answer as server-sent events. */
export interface EventWriter<Item> {
  write(item: Item): string;
  /** Returns the events after the last item. */
  end(): string;
  /** Returns the last events of an answer that fails in the middle. */
  fail(error: unknown): string;
}

/** Server-sent events as OpenAI and vLLM write them: without names, and the last one is "[DONE]". */
export const CHUNK_EVENTS: EventWriter<object> = {
  write: (chunk) => dataEvent(chunk),
  end: () => "data: [DONE]\n\n",
  fail: (error) => `${dataEvent(describeError(error).body)}data: [DONE]\n\n`,
};

function dataEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

/**
 * Answers with server-sent events. Takes items as soon as they come, even if the reader is slow, so that it delays nobody
 * else; a reader that leaves ends the items.
 *
 * @param signal the request's signal: when it is aborted, the body fails with its reason
 */
export function eventStream<Item>(
  items: AsyncIterableIterator<Item>,
  writer: EventWriter<Item>,
  signal: AbortSignal,
): Response {
  const encoder = new TextEncoder();
  let isOpen = true;
  const leave = () => {
    isOpen = false;
    void items.return?.();
  };

  async function pump(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const send = (text: string) => {
      if (text === "" || !isOpen) return;
      controller.enqueue(encoder.encode(text));
      if ((controller.desiredSize ?? 0) > 0) return;
      leave();
      controller.error(
        new HttpError(429, "reader_too_slow", `${byteSize(MAX_UNREAD_BYTES)} of the answer were left unread.`),
      );
    };
    try {
      for await (const item of items) {
        send(writer.write(item));
        if (!isOpen) return;
      }
      send(writer.end());
    } catch (error) {
      if (!isOpen) return;
      if (signal.aborted) return controller.error(signal.reason);
      send(writer.fail(error));
    }
    if (isOpen) controller.close();
  }

  const body = new ReadableStream<Uint8Array>(
    { start: (controller) => void pump(controller), cancel: leave },
    new ByteLengthQueuingStrategy({ highWaterMark: MAX_UNREAD_BYTES }),
  );
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      // Proxies such as nginx must not buffer events.
      "x-accel-buffering": "no",
    },
  });
}
