// The channel between the service worker and a tab, on which messages come late, twice or broken.

import fc from "fast-check";
import { expect, it } from "vitest";

import { answerThrough } from "./page-api.ts";
import { drawFaults, faultyChannel, FAULTS, isBroken, type Fault } from "../../../tests/fakes/faulty-channel.ts";
import { answerApi, type PageClient } from "./answer-api.ts";

const SCOPE = "https://host.example/";
const NUM_REQUESTS = 3;
const NUM_MESSAGES = 6;

/** The page's end of a port. Messages have these faults, each way, but for the offer and errors. */
function faultyPort(port: MessagePort, there: readonly Fault[], back: readonly Fault[]): MessagePort {
  const heard = new EventTarget();
  const counted = (faults: readonly Fault[], deliver: (message: unknown) => void) => {
    let count = 0;
    const isSafe = (message: object) =>
      "answers" in message || ("message" in message && "error" in (message.message as object));
    return faultyChannel<object>((message) => (isSafe(message) ? "none" : faults[count++]), deliver);
  };
  const hear = counted(there, (data) => void heard.dispatchEvent(new MessageEvent("message", { data })));
  port.addEventListener("message", ({ data }: MessageEvent<object>) => {
    try {
      hear(data);
    } catch {
      heard.dispatchEvent(new MessageEvent("messageerror", { data: null })); // here it comes broken
    }
  });
  const postMessage = counted(back, (message) => port.postMessage(message));
  return Object.assign(heard, { postMessage, start: () => port.start() }) as unknown as MessagePort;
}

/** Answers with the request's own text, in three pieces. */
async function echo(request: Request): Promise<Response> {
  const text = await request.text();
  const pieces = [1, 2, 3].map((i) => new TextEncoder().encode(`${text} ${i};`));
  return new Response(
    new ReadableStream<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece) controller.enqueue(piece);
        else controller.close();
      },
    }),
  );
}

it("each request gets its own answer whole, or an error", async () => {
  // A tab may take as long as it likes, so nothing is lost here: ports lose nothing.
  const faults = drawFaults(
    NUM_MESSAGES,
    FAULTS.filter((fault) => fault !== "lost"),
  );
  const all = fc.array(fc.tuple(faults, faults), { minLength: NUM_REQUESTS, maxLength: NUM_REQUESTS });
  await fc.assert(
    fc.asyncProperty(all, async (drawn) => {
      const asked = drawn.map(async ([there, back], i) => {
        const page: PageClient = {
          postMessage: (_, [port]) => port && answerThrough(faultyPort(port, there, back), echo),
        };
        const headers = { "content-type": "application/json" };
        const request = new Request(`${SCOPE}v1/x`, { method: "POST", body: `"${i}"`, headers });
        return (await answerApi(request, "/v1/x", SCOPE, [page])).text();
      });
      const got = await Promise.allSettled(asked);
      got.forEach((one, i) => {
        const isWell = !drawn[i]?.flat().some(isBroken);
        if (isWell || one.status === "fulfilled") {
          expect(one).toEqual({ status: "fulfilled", value: `"${i}" 1;"${i}" 2;"${i}" 3;` });
        }
      });
    }),
    { numRuns: 40 },
  );
});
