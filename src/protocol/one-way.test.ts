import * as Comlink from "comlink";
import { afterEach, expect, it } from "vitest";

import { ONE_WAY, oneWay } from "./one-way.ts";
import { EMPTY_MESSAGE, type EngineMessage } from "./service.ts";

Comlink.transferHandlers.set(ONE_WAY.name, ONE_WAY.handler);
const closing: MessagePort[] = [];

afterEach(() => {
  for (const port of closing.splice(0)) port.close();
});

/** The other side: it calls back as often as it is told to. */
class Service {
  notify(count: number, onMessage: (message: EngineMessage) => void): unknown[] {
    return Array.from({ length: count }, (_, ticket) => {
      return onMessage({ ...EMPTY_MESSAGE, events: [{ type: "end", ticket }] });
    });
  }
}

it("calls come in order, and the caller gets no answer to wait for", async () => {
  const { port1, port2 } = new MessageChannel();
  closing.push(port1, port2);
  Comlink.expose(new Service(), port2);
  const received: EngineMessage[] = [];
  let notifyAll = (): void => {};
  const all = new Promise<void>((resolve) => (notifyAll = resolve));
  const onMessage = oneWay((message) => {
    if (received.push(message) === 3) notifyAll();
  });
  expect(await Comlink.wrap<Service>(port1).notify(3, onMessage)).toEqual([undefined, undefined, undefined]);
  await all;
  expect(received).toEqual([0, 1, 2].map((ticket) => ({ ...EMPTY_MESSAGE, events: [{ type: "end", ticket }] })));
});
