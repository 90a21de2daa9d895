// A connection of a page and a worker: each side calls the other's methods by name. A function among a call's arguments is called
// back without an answer. What can't be read on the other side fails its own call, and no other; what comes twice is taken once.
// A side that is gone answers nothing: see client/worker-transport.ts.

import { ChorusError, fromErrorData, toErrorData, type ChorusErrorData } from "./errors.ts";

/** A worker or a port. */
interface Endpoint {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  addEventListener(type: string, listener: (event: Event) => void): void;
  start?: () => void;
}

/** The other side's methods. Their answers come later. */
export type Remote<Service> = {
  readonly [Name in keyof Service]: Service[Name] extends (...args: infer Args) => infer Answer
    ? (...args: Args) => Promise<Awaited<Answer>>
    : never;
};

interface Call {
  readonly id: number;
  readonly name: string;
  /** In the place of each function, a port. */
  readonly args: readonly unknown[];
  /** Indexes of those. */
  readonly callbacks: readonly number[];
}

type Outcome = { readonly value: unknown } | { readonly error: ChorusErrorData };
type Answer = { readonly id: number } & Outcome;

/** Comes before each message, which then can be unreadable. */
interface Announcement {
  readonly announced: number;
  readonly isCall: boolean;
}

interface Waiter {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

type Callback = (message: unknown) => void;

/** Connects two sides, and returns the other one's methods. Both must connect. @param own what the other side may call */
export function connect<Other extends object>(endpoint: Endpoint, own: object = {}): Remote<Other> {
  const waiting = new Map<number, Waiter>();
  let numCalls = 0;
  let lastAnswered = 0;
  let next: Announcement | null = null;

  const post = (message: Call | Answer, transfer: Transferable[] = []) => {
    endpoint.postMessage({ announced: message.id, isCall: "name" in message } satisfies Announcement);
    endpoint.postMessage(message, transfer);
  };
  const call = (name: string, args: readonly unknown[]) =>
    new Promise((resolve, reject) => {
      const id = ++numCalls;
      const callbacks = args.flatMap((arg, i) => (typeof arg === "function" ? [i] : []));
      const posted = args.map((arg) => (typeof arg === "function" ? listenTo(arg as Callback) : arg));
      post(
        { id, name, args: posted, callbacks },
        posted.filter((arg) => arg instanceof MessagePort),
      );
      waiting.set(id, { resolve, reject });
    });
  const settle = ({ id, ...outcome }: Answer) => {
    const waiter = waiting.get(id);
    waiting.delete(id);
    if ("error" in outcome) waiter?.reject(fromErrorData(outcome.error));
    else waiter?.resolve(outcome.value);
  };
  const answer = async (id: number, makeValue: () => unknown) => {
    if (id <= lastAnswered) return; // it was a repeated message
    lastAnswered = id;
    try {
      post({ id, value: await makeValue() });
    } catch (error) {
      post({ id, error: toErrorData(error) });
    }
  };
  const receive = (event: Event) => {
    const { data } = event as MessageEvent<Announcement | Call | Answer | null>;
    const before = next;
    next = data !== null && "announced" in data ? data : null;
    if (next !== null) return;
    if (data === null) {
      if (before?.isCall) void answer(before.announced, () => Promise.reject(unreadable()));
      else if (before !== null) settle({ id: before.announced, error: toErrorData(unreadable()) });
    } else if ("name" in data) {
      const { id, name, args, callbacks } = data;
      const given = args.map((arg, i) => (callbacks.includes(i) ? callingBack(arg as MessagePort) : arg));
      void answer(id, () => (own as Record<string, (...values: unknown[]) => unknown>)[name]?.(...given));
    } else if ("id" in data) settle(data);
  };
  endpoint.addEventListener("message", receive);
  endpoint.addEventListener("messageerror", receive);
  endpoint.start?.();
  const methods: ProxyHandler<object> = {
    // "then" is none of them: they may be awaited with what has them.
    get: (_, name) => (name === "then" ? undefined : (...args: unknown[]) => call(String(name), args)),
  };
  return new Proxy({}, methods) as Remote<Other>;
}

function unreadable(): ChorusError {
  return new ChorusError("internal_error", "A message between threads could not be read.");
}

const lossListeners = new WeakMap<object, () => void>();

/** Returns the callback. Calls of it that were lost on their way are noticed, before the next one comes. */
export function withLosses<Listener extends (message: never) => void>(
  callback: Listener,
  onLost: () => void,
): Listener {
  lossListeners.set(callback, onLost);
  return callback;
}

/** The calls of a callback are numbered from 1: a repeated one is dropped, and a lost one is noticed. */
interface CallBack {
  readonly n: number;
  readonly message: unknown;
}

/** Returns a port on which a callback is called. */
function listenTo(callback: Callback): MessagePort {
  const { port1, port2 } = new MessageChannel();
  let last = 0;
  const receive = ({ data }: MessageEvent<CallBack | null>) => {
    const n = data?.n ?? last + 1;
    if (n <= last) return;
    if (data === null || n > last + 1) lossListeners.get(callback)?.();
    last = n;
    if (data !== null) callback(data.message);
  };
  port1.addEventListener("message", receive);
  port1.addEventListener("messageerror", receive);
  port1.start();
  return port2;
}

/** Returns what calls the other side's callback. If the port throws, the next call has the same number. */
function callingBack(port: Pick<MessagePort, "postMessage">): Callback {
  let n = 0;
  return (message) => {
    port.postMessage({ n: n + 1, message } satisfies CallBack);
    n += 1;
  };
}
