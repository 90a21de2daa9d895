// An endpoint for Comlink, which posts each message after its id. Comlink pairs calls and answers by id, but leaves a call pending
// for ever if either can't be read on the other side. Here such a call fails; so does one of an object that a call has passed.

import { ChorusError, fromErrorData, toErrorData, type ChorusErrorData } from "./errors.ts";

/** A worker or a port. */
interface Endpoint {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  addEventListener(type: string, listener: (event: Event) => void): void;
  start?: () => void;
}

/** Comes before each message. A call has a path, an answer has none. */
interface Announcement {
  readonly announced: string;
  readonly isCall: boolean;
}

interface ComlinkMessage {
  readonly id: string;
  readonly path?: readonly string[];
}

type AnnouncedEndpoint = EventTarget & Pick<Endpoint, "postMessage" | "start">;

/** Returns an endpoint for Comlink. Both sides must have one. A message that comes twice is taken once. */
export function announced(endpoint: Endpoint): AnnouncedEndpoint {
  const received = new EventTarget();
  let lastId: string | null = null;
  let next: Announcement | null = null;
  const receive = (event: Event) => {
    const { data } = event as MessageEvent<Announcement | ComlinkMessage | null>;
    if (data !== null && "announced" in data) {
      if (data.announced !== lastId) next = data;
      lastId = data.announced;
      return;
    }
    if (next === null) return;
    const { announced: id, isCall } = next;
    next = null;
    if (data !== null) received.dispatchEvent(new MessageEvent("message", { data }));
    else if (isCall) post(unreadable(id));
    else received.dispatchEvent(new MessageEvent("message", { data: unreadable(id) }));
  };
  endpoint.addEventListener("message", receive);
  endpoint.addEventListener("messageerror", receive);
  const post = (message: ComlinkMessage, transfer?: Transferable[]) => {
    endpoint.postMessage({ announced: message.id, isCall: "path" in message } satisfies Announcement);
    endpoint.postMessage(message, transfer);
  };
  return Object.assign(received, { postMessage: post as Endpoint["postMessage"], start: () => endpoint.start?.() });
}

/** Says how values of a kind cross. */
interface TransferHandler<Value = unknown, Wire = unknown> {
  canHandle(value: unknown): value is Value;
  serialize(value: Value): [Wire, Transferable[]];
  deserialize(wire: Wire): unknown;
}

/** The part of Comlink's messages that is used here. */
interface ComlinkModule {
  readonly proxyMarker: symbol;
  readonly transferHandlers: {
    get(name: string): TransferHandler | undefined;
    set(name: string, handler: TransferHandler): unknown;
  };
  readonly expose: (passed: unknown, endpoint: AnnouncedEndpoint) => void;
  readonly wrap: (endpoint: AnnouncedEndpoint) => unknown;
}

/** Comlink closes a released endpoint only if its constructor is called "MessagePort". */
function announcedPort(port: MessagePort): AnnouncedEndpoint {
  return Object.assign(announced(port), { constructor: MessagePort, close: () => port.close() });
}

/**
 * Has what Comlink.proxy marks answer through such an endpoint, too: it gets a port of its own. What a call throws is a ChorusError
 * with its code and field on the other side. Both sides must do so.
 */
export function prepareComlink({ proxyMarker, transferHandlers, expose, wrap }: ComlinkModule): void {
  const proxies: TransferHandler<object, MessagePort> = {
    canHandle: (value): value is object => value instanceof Object && proxyMarker in value,
    serialize(passed) {
      const { port1, port2 } = new MessageChannel();
      expose(passed, announcedPort(port1));
      return [port2, [port2]];
    },
    deserialize: (port) => wrap(announcedPort(port)),
  };
  transferHandlers.set("proxy", proxies);
  const thrown = transferHandlers.get(THROWN);
  if (thrown === undefined) return;
  const errors: TransferHandler<unknown, ChorusErrorData> = {
    canHandle: (value): value is unknown => thrown.canHandle(value),
    serialize: (marked) => [toErrorData((marked as { readonly value: unknown }).value), []],
    deserialize(data) {
      throw fromErrorData(data);
    },
  };
  transferHandlers.set(THROWN, errors);
}

/** Comlink's name of the handler of errors. */
const THROWN = "throw";

/** Comlink's form of an answer that is an error. */
function unreadable(id: string): ComlinkMessage {
  const value = toErrorData(new ChorusError("internal_error", "A message between threads could not be read."));
  const wire = { id, type: "HANDLER", name: THROWN, value };
  return wire;
}
