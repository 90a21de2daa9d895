import { afterEach, expect, test } from "vitest";

import type { ThreadKind, ThreadProvider } from "../protocol/thread-provider.ts";
import { LimitedThread, ThreadEnded } from "../threads/limited-thread.ts";
import type { NumberedCall, ThreadAnswer } from "../threads/thread-port.ts";
import { RemoteThreads } from "./remote-threads.ts";

/** A page whose threads answer with its name and the call; one that is asked to hang is silent from then on. */
class Page implements ThreadProvider {
  readonly started: { id: number; kind: ThreadKind }[] = [];
  readonly ended: number[] = [];
  readonly #name: string;
  fail: (reason: string) => void = () => undefined;

  constructor(name: string) {
    this.#name = name;
  }

  start(id: number, kind: ThreadKind, port: MessagePort): Promise<string> {
    this.started.push({ id, kind });
    port.addEventListener("message", ({ data: requested }: MessageEvent<NumberedCall<string>>) => {
      if (requested.call === "hang") return;
      port.postMessage({ id: requested.id, value: `${this.#name}: ${requested.call}` } satisfies ThreadAnswer<string>);
    });
    port.start();
    opened.push(port);
    return new Promise((resolve) => (this.fail = resolve));
  }

  end(id: number): void {
    this.ended.push(id);
  }
}

const opened: MessagePort[] = [];
afterEach(() => {
  for (const port of opened.splice(0)) port.close();
});

const LONG_MS = 60_000;

function remoteThreads() {
  const threads = new RemoteThreads((port) => port);
  const open = () => new LimitedThread(threads.open<NumberedCall<string>, ThreadAnswer<string>>("texts"), "It");
  return { threads, open };
}

test("the page that came first starts the thread", async () => {
  const { threads, open } = remoteThreads();
  expect(open).toThrow("No page can start a thread.");
  const [first, second] = [new Page("first"), new Page("second")];
  for (const page of [first, second]) threads.add(page);
  const thread = open();
  expect(await Promise.all(["a", "b"].map((call) => thread.ask(call, LONG_MS)))).toEqual(["first: a", "first: b"]);
  expect(first.started).toEqual([{ id: 1, kind: "texts" }]);
  thread.end();
  expect(first.ended).toEqual([1]);
  expect(second.started).toEqual([]);
});

test("when that page is gone, those who waited may go on with another's", async () => {
  const { threads, open } = remoteThreads();
  const [first, second] = [new Page("first"), new Page("second")];
  for (const page of [first, second]) threads.add(page);
  const thread = open();
  const waiting = ["hang", "a"].map((call) => thread.ask(call, LONG_MS).catch((error: unknown) => error));
  threads.remove(first);
  threads.remove(first);
  for (const one of waiting) expect(await one).toBeInstanceOf(ThreadEnded);
  const next = open();
  expect(await next.ask("a", LONG_MS)).toBe("second: a");
  next.end();
});

test("says why a page could not start one", async () => {
  const { threads, open } = remoteThreads();
  const page = new Page("page");
  threads.add(page);
  const answer = open().ask("hang", LONG_MS);
  page.fail("its worker could not be loaded");
  await expect(answer).rejects.toThrow("It failed: its worker could not be loaded.");
});
