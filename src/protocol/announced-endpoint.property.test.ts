// Comlink's calls between a page and its workers, on channels on which messages come late, twice or broken.

import { readdirSync, readFileSync } from "node:fs";

import * as Comlink from "comlink";
import fc from "fast-check";
import { afterEach, expect, it, vi } from "vitest";

import { drawFaults, faultyChannel, FAULTS, isBroken, type Fault } from "../../tests/fakes/faulty-channel.ts";
import { announced, prepareComlink } from "./announced-endpoint.ts";
import { ChorusError } from "./errors.ts";

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

  start(): void {}
}

prepareComlink(Comlink);
afterEach(() => vi.unstubAllGlobals());

/** Returns an object as the page has it. */
type Connect = <T extends object>(service: T, page: Side, worker: Side) => Comlink.Remote<T>;

it.each<[string, Connect]>([
  [
    "a worker",
    (service, page, worker) => {
      Comlink.expose(service, announced(worker));
      return Comlink.wrap(announced(page));
    },
  ],
  [
    "what was passed with a call",
    (service, page, worker) => {
      vi.stubGlobal("MessageChannel", function () {
        return { port1: worker, port2: page };
      });
      const handler = Comlink.transferHandlers.get("proxy") as Comlink.TransferHandler<object, Side>;
      return handler.deserialize(handler.serialize(service)[0]) as Comlink.Remote<typeof service>;
    },
  ],
])(
  "%s: each call gets its own answer; one whose message, or whose answer, is broken gets an error",
  async (_name, connect) => {
    // Comlink's calls have no time limit, so none are lost: ports lose nothing. Of an engine's worker the heartbeat notices
    // silence. The worker of `models.download` has none: it gives up by itself where the server is silent
    // (models-client.test.ts). The lab's kernels compute for as long as they are asked to.
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
          (message) => there[Number((message as { argumentList?: { value: number }[] }).argumentList?.[0]?.value)],
          () => worker,
        );
        const worker: Side = new Side(
          (message) => back[Number(String((message as { value?: unknown }).value).split("the answer to ")[1])],
          () => page,
        );
        const remote = connect(service, page, worker);
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
  },
);

it("the channel of a passed object is closed when it is released", async () => {
  prepareComlink(Comlink);
  const close = vi.spyOn(MessagePort.prototype, "close");
  const { port1, port2 } = new MessageChannel();
  const service = {
    async take(callback: (() => Promise<number>) & Comlink.ProxyMethods): Promise<number> {
      const result = await callback();
      callback[Comlink.releaseProxy]();
      return result;
    },
  };
  Comlink.expose(service, announced(port1));
  const remote = Comlink.wrap<typeof service>(announced(port2));
  expect(await remote.take(Comlink.proxy(() => Promise.resolve(7)) as never)).toBe(7);
  await expect.poll(() => close.mock.calls).toHaveLength(1);
  close.mockRestore();
  port1.close();
});

it("all calls between pages and workers go through it", () => {
  const sources = ["src", "lab"].flatMap((house) =>
    readdirSync(house, { recursive: true, encoding: "utf8" })
      .filter((path) => /(?<!\.test)\.tsx?$/.test(path))
      .map((path) => `${house}/${path}`),
  );
  const calls = sources.flatMap((path) =>
    [...readFileSync(path, "utf8").matchAll(/Comlink\.(?:wrap|expose)\b.*/g)].map(([call]) => `${path}: ${call}`),
  );
  expect(calls.length).toBeGreaterThan(5);
  expect(calls.filter((call) => !call.includes("announced("))).toEqual([]);
});

it("what a call throws is a ChorusError on the other side, with its code and field; any other error is an internal one", async () => {
  const { port1, port2 } = new MessageChannel();
  const refused = new ChorusError("invalid_value", "n must be at least 1.", "n");
  const service = {
    refuse: () => Promise.reject(refused),
    fail(): string {
      throw new RangeError("it is too much");
    },
  };
  Comlink.expose(service, announced(port1));
  const remote = Comlink.wrap<typeof service>(announced(port2));
  await expect(remote.refuse()).rejects.toEqual(refused);
  const error = await remote.fail().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ChorusError);
  expect(error).toMatchObject({ code: "internal_error", message: "it is too much", param: null });
  port1.close();
});
