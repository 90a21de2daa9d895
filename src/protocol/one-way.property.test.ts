// An engine's messages to a page, on a channel on which they come late, twice, broken or not at all.

import fc from "fast-check";
import { afterEach, expect, it, vi } from "vitest";

import { drawFaults, faultyChannel, isBroken, type Fault } from "../../tests/fakes/faulty-channel.ts";
import { ONE_WAY } from "./one-way.ts";
import { EMPTY_MESSAGE, type EngineMessage } from "./service.ts";

afterEach(() => void vi.unstubAllGlobals());

const NUM_MESSAGES = 8;

/** Sends a text of its number to each ticket in turn, and returns what the listener hears. */
async function send(faults: readonly Fault[]): Promise<EngineMessage[]> {
  const hearing = Object.assign(new EventTarget(), { start: () => undefined });
  const postMessage = faultyChannel<{ message: { texts?: readonly [number] } }>(
    ({ message }) => (message.texts ? faults[message.texts[0]] : "none"),
    (data) => void hearing.dispatchEvent(new MessageEvent("message", { data })),
  );
  vi.stubGlobal("MessageChannel", function () {
    return { port1: hearing, port2: { postMessage } };
  });
  const received: EngineMessage[] = [];
  const [port] = ONE_WAY.handler.serialize((message) => received.push(message));
  const notify = ONE_WAY.handler.deserialize(port);
  for (let ticket = 0; ticket < NUM_MESSAGES; ticket++) {
    notify({ ...EMPTY_MESSAGE, events: [{ type: "text", ticket, choice: 0, text: `${ticket}` }] });
  }
  notify({ ...EMPTY_MESSAGE, events: [{ type: "end", ticket: NUM_MESSAGES }] });
  await expect.poll(() => received.at(-1)?.events[0]?.type, { interval: 1 }).toBe("end");
  return received;
}

/** Several that are lost in a row may be said once. */
const isNews = (one: string, i: number, all: readonly string[]) => one !== "lost" || all[i - 1] !== "lost";

it("each request hears its own texts once and in order, or an error; what is lost is said before what follows", async () => {
  await fc.assert(
    fc.asyncProperty(drawFaults(NUM_MESSAGES), async (faults) => {
      const expected = faults.map((fault, ticket) => {
        if (fault === "unpostable") return `error ${ticket}`;
        return isBroken(fault) || fault === "lost" ? "lost" : `text ${ticket}`;
      });
      const got = (await send(faults)).flatMap(({ events, lost }) =>
        lost === null ? events.map(({ type, ticket }) => `${type} ${ticket}`) : ["lost"],
      );
      expect(got.filter(isNews)).toEqual([...expected, `end ${NUM_MESSAGES}`].filter(isNews));
    }),
    { numRuns: 60 },
  );
});
