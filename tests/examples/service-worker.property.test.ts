// examples/service-worker: its requests, and their answers, on channels on which messages come late, twice or broken.

import { readFileSync } from "node:fs";

import fc from "fast-check";
import { expect, it } from "vitest";

import { drawFaults, faultyChannel, FAULTS, isBroken, type Fault } from "../fakes/faulty-channel.ts";

const source = (name: string) => readFileSync(`examples/service-worker/${name}`, "utf8");
const NUM_REQUESTS = 5;
const PIECES = ["the answer ", "to ", "request "];

/** Runs the text of a script with these names in place of a browser's. */
function run(script: string, names: Record<string, unknown>): unknown {
  // eslint-disable-next-line no-new-func, typescript/no-implied-eval -- it is the example, as it stands
  return new Function(...Object.keys(names), script)(...Object.values(names));
}

class Port extends EventTarget {
  /** Whether what can't be read comes as a message, with null, as in Chromium. */
  readonly #hasNulls: boolean;
  onmessage: ((event: Event) => void) | null = null;
  onmessageerror: ((event: Event) => void) | null = null;
  postMessage: (message: unknown) => void = () => undefined;

  #isClosed = false;

  constructor(hasNulls: boolean) {
    super();
    this.#hasNulls = hasNulls;
  }

  start(): void {}

  close(): void {
    this.#isClosed = true;
  }

  readonly hear = (data: unknown): void => {
    if (this.#isClosed) return;
    const isError = data === null && !this.#hasNulls;
    const event = new MessageEvent(isError ? "messageerror" : "message", { data });
    this.dispatchEvent(event);
    (isError ? this.onmessageerror : this.onmessage)?.(event);
  };
}

type Ask = (url: string) => Promise<Response>;

/** Opens the page and its service worker. @param faultOf a message's fault, by its number among those of its channel's side */
function openSite(
  faultOf: (channel: number, side: "there" | "back", message: number) => Fault | undefined,
  hasNulls: boolean,
): Ask {
  let numChannels = 0;
  const connect = (from: Port, to: Port, fault: (message: number) => Fault | undefined) => {
    let numPosted = 0;
    from.postMessage = faultyChannel(() => fault(numPosted++), to.hear);
  };
  const openChannel = function () {
    const channel = numChannels++;
    const [port1, port2] = [new Port(hasNulls), new Port(hasNulls)];
    connect(port1, port2, (message) => faultOf(channel, "there", message));
    connect(port2, port1, (message) => faultOf(channel, "back", message));
    return { port1, port2 };
  };
  const loading = Promise.resolve({
    fetch: (url: string) => {
      const start = (body: ReadableStreamDefaultController<Uint8Array>) => {
        for (const piece of [...PIECES, new URL(url).pathname]) body.enqueue(new TextEncoder().encode(piece));
        body.close();
      };
      return Promise.resolve(new Response(new ReadableStream({ start })));
    },
  });
  const serviceWorker: { onmessage: ((event: object) => void) | null } = { onmessage: null };
  const [, answering] = /(serviceWorker\.onmessage = .*?\n      \};)/s.exec(source("index.html")) ?? [];
  run(answering ?? "throw new Error('The page has changed.')", { serviceWorker, loading });

  let onFetch: (event: object) => void = () => undefined;
  const page = {
    url: "https://site.test/index.html",
    postMessage: (data: unknown, ports: unknown) => serviceWorker.onmessage?.({ data: structuredClone(data), ports }),
  };
  run(source("service-worker.js"), {
    addEventListener: (type: string, listener: typeof onFetch) => {
      if (type === "fetch") onFetch = listener;
    },
    registration: { scope: "https://site.test/" },
    clients: { matchAll: () => Promise.resolve([page]) },
    MessageChannel: openChannel,
  });
  return (url) => {
    const request = new Request(url, { method: "POST", body: "{}" });
    return new Promise((resolve, reject) => {
      onFetch({ request, respondWith: (answer: Promise<Response>) => void answer.then(resolve, reject) });
    });
  };
}

it("each request gets its own answer, whole and once, or an error", async () => {
  // They have no limit of time, as a model may still be loading: none is lost, as ports lose none, and a closed page ends them.
  const faults = drawFaults(
    NUM_REQUESTS,
    FAULTS.filter((fault) => fault !== "lost"),
  );
  await fc.assert(
    fc.asyncProperty(faults, faults, fc.nat(PIECES.length + 2), fc.boolean(), async (there, back, at, hasNulls) => {
      const ask = openSite((channel, side, message) => {
        if (side === "there") return message === 0 ? there[channel] : "none";
        // Of a request that can't be read the page says only so: a text can be posted.
        return message === at && !isBroken(there[channel]) ? back[channel] : "none";
      }, hasNulls);
      const answers = Array.from({ length: NUM_REQUESTS }, async (_, i) => {
        try {
          return await (await ask(`https://site.test/v1/${i}`)).text();
        } catch (error) {
          return error;
        }
      });
      for (const [i, answer] of (await Promise.all(answers)).entries()) {
        if (isBroken(there[i]) || isBroken(back[i])) expect(answer).toBeInstanceOf(Error);
        else expect(answer).toBe(`the answer to request /v1/${i}`);
      }
    }),
    { numRuns: 60 },
  );
});
