import { afterEach, expect, it } from "vitest";

import { connect } from "./connection.ts";
import { ChorusError } from "./errors.ts";

const closing: MessagePort[] = [];
afterEach(() => {
  for (const port of closing.splice(0)) port.close();
});

function channel() {
  const { port1, port2 } = new MessageChannel();
  closing.push(port1, port2);
  return [port1, port2] as const;
}

it("each side calls the other's methods, as methods, and gets the value or the error", async () => {
  const [page, worker] = channel();
  const service = {
    count: 2,
    add(more: number) {
      return (this.count += more);
    },
    refuse: () => Promise.reject(new ChorusError("invalid_value", "n is too large.", "n")),
  };
  const toPage = connect<{ name(): string }>(worker, service);
  const toWorker = connect<typeof service>(page, { name: () => "page" });
  expect(await toWorker.add(3)).toBe(5);
  expect(await toPage.name()).toBe("page");
  await expect(toWorker.refuse()).rejects.toMatchObject({ name: "ChorusError", code: "invalid_value", param: "n" });
});

it("a function is called back in order, and its caller gets no answer to wait for", async () => {
  const [page, worker] = channel();
  const service = {
    notify: (count: number, listener: (n: number) => void) => Array.from({ length: count }, (_, n) => listener(n)),
  };
  connect(worker, service);
  const received: number[] = [];
  const listening = connect<typeof service>(page).notify(3, (n) => void received.push(n));
  expect(await listening).toEqual([undefined, undefined, undefined]);
  await expect.poll(() => received).toEqual([0, 1, 2]);
});

it("a port is moved to the other side, which answers there", async () => {
  const [page, worker] = channel();
  const [own, given] = channel();
  connect(worker, { answerAt: (port: MessagePort) => connect(port, { name: () => "worker" }) && null });
  await connect<{ answerAt(port: MessagePort): null }>(page).answerAt(given);
  expect(await connect<{ name(): string }>(own).name()).toBe("worker");
});

it("what can't be posted fails its own call, on either side, and no other", async () => {
  const [page, worker] = channel();
  const service = { echo: (value: unknown) => value, unpostable: () => ({ here: () => 1 }) };
  connect(worker, service);
  const remote = connect<typeof service>(page);
  await expect(remote.echo({ there: () => 1 })).rejects.toMatchObject({ name: "DataCloneError" });
  await expect(remote.unpostable()).rejects.toMatchObject({ code: "internal_error" });
  expect(await remote.echo(7)).toBe(7);
});
