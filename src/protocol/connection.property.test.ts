// Calls between a page and a worker, on channels on which messages come late, twice or broken.

import fc from "fast-check";
import { expect, it } from "vitest";

import { drawFaults, faultyChannel, FAULTS, isBroken, type Fault } from "../../tests/fakes/faulty-channel.ts";
import { connect } from "./connection.ts";

const NUM_CALLS = 6;

/** One side of a channel. The fault is that of a call, or of the answer to it; announcements come as they are. */
class Side extends EventTarget {
  readonly postMessage: (message: unknown) => void;

  constructor(faultOf: (message: unknown) => Fault | undefined, other: () => EventTarget) {
    super();
    this.postMessage = faultyChannel(faultOf, (data) => {
      other().dispatchEvent(new MessageEvent(data === null ? "messageerror" : "message", { data }));
    });
  }
}

it("each call gets its own answer; one whose message, or whose answer, is broken gets an error", async () => {
  // Calls have no time limit, so none are lost: ports lose nothing. Of an engine's worker the heartbeat notices silence. The
  // worker of `models.download` has none: it gives up by itself where the server is silent (models-client.test.ts). The lab's
  // kernels compute for as long as they are asked to.
  const faults = drawFaults(
    NUM_CALLS,
    FAULTS.filter((fault) => fault !== "lost"),
  );
  await fc.assert(
    fc.asyncProperty(faults, faults, async (there, back) => {
      const timesCalled = Array<number>(NUM_CALLS).fill(0);
      const service = {
        ask(call: number) {
          timesCalled[call] = (timesCalled[call] ?? 0) + 1;
          return `the answer to ${call}`;
        },
      };
      const page: Side = new Side(
        (message) => there[Number((message as { args?: number[] }).args?.[0])],
        () => worker,
      );
      const worker: Side = new Side(
        (message) => back[Number(String((message as { value?: unknown }).value).split("the answer to ")[1])],
        () => page,
      );
      connect(worker, service);
      const remote = connect<typeof service>(page);
      const requested = Array.from({ length: NUM_CALLS }, (_, call) =>
        remote.ask(call).catch((error: unknown) => error),
      );
      const got = await Promise.all(requested);
      got.forEach((value, call) => {
        if (isBroken(there[call]) || isBroken(back[call])) expect(value).toBeInstanceOf(Error);
        else expect(value).toBe(`the answer to ${call}`);
        expect(timesCalled[call]).toBe(isBroken(there[call]) ? 0 : 1);
      });
    }),
    { numRuns: 60 },
  );
});
