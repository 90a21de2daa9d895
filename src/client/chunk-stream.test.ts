// A stream's iterator queues calls as an async generator does: each settles, in order, whatever happens meanwhile.

import { expect, it } from "vitest";

import type { Chunk } from "../protocol/service.ts";
import { ChunkStream, RequestEvents } from "./request-events.ts";

const chunk = (id: string) => ({ type: "chunk", ticket: 1, chunk: { id } as Chunk }) as const;
const END = { type: "end", ticket: 1 } as const;
const ended = { done: true, value: undefined };
const given = (id: string) => ({ done: false, value: { id } });

function open() {
  const events = new RequestEvents();
  let numLeft = 0;
  const stream = new ChunkStream(events, () => (numLeft += 1));
  return { events, stream, numLeft: () => numLeft };
}

it("several next() at once get the chunks in order, and those after the last one end", async () => {
  const { events, stream } = open();
  const requested = Promise.all([stream.next(), stream.next(), stream.next(), stream.next()]);
  for (const event of [chunk("a"), chunk("b"), END]) events.push(event);
  expect(await requested).toEqual([given("a"), given("b"), ended, ended]);
});

it("a next() that was not waited for loses no chunk", async () => {
  const { events, stream } = open();
  const first = stream.next();
  expect(await Promise.race([first, Promise.resolve("a timer")])).toBe("a timer");
  const second = stream.next();
  events.push(chunk("a"));
  events.push(chunk("b"));
  expect([await first, await second]).toEqual([given("a"), given("b")]);
});

it("return() beside pending next() settles them all, and leaves once", async () => {
  const { stream, numLeft } = open();
  const requested = [stream.next(), stream.next()];
  expect(await stream.return()).toEqual(ended);
  expect(await Promise.all(requested)).toEqual([ended, ended]);
  expect(await stream.next()).toEqual(ended);
  await stream.return();
  expect(numLeft()).toBe(1);
});

it("an abort rejects the first next() that waits, and ends the others", async () => {
  const { events, stream } = open();
  const requested = Promise.allSettled([stream.next(), stream.next(), stream.next()]);
  events.fail(new Error("stop"));
  const [first, ...others] = await requested;
  expect(first).toMatchObject({ status: "rejected", reason: { message: "stop" } });
  expect(others).toEqual([1, 2].map(() => ({ status: "fulfilled", value: ended })));
});
