// An endpoint for Comlink, which posts each message after its id. Comlink pairs calls and answers by id, but leaves a call pending
// for ever if either can't be read on the other side. Here such a call fails; so does one of an object that a call has passed.

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

interface ProxyHandler {
  canHandle(value: unknown): value is object;
  serialize(passed: object): [MessagePort, Transferable[]];
  deserialize(port: MessagePort): unknown;
}

/** The part of Comlink's messages that is used here. */
interface ComlinkModule {
  readonly proxyMarker: symbol;
  readonly transferHandlers: { set(name: string, handler: ProxyHandler): unknown };
  readonly expose: (passed: unknown, endpoint: AnnouncedEndpoint) => void;
  readonly wrap: (endpoint: AnnouncedEndpoint) => unknown;
}

/** Comlink closes a released endpoint only if its constructor is called "MessagePort". */
function announcedPort(port: MessagePort): AnnouncedEndpoint {
  return Object.assign(announced(port), { constructor: MessagePort, close: () => port.close() });
}

/** Has what Comlink.proxy marks answer through such an endpoint, too: it gets a port of its own. Both sides must do so. */
export function announceProxies({ proxyMarker, transferHandlers, expose, wrap }: ComlinkModule): void {
  transferHandlers.set("proxy", {
    canHandle: (value): value is object => value instanceof Object && proxyMarker in value,
    serialize(passed) {
      const { port1, port2 } = new MessageChannel();
      expose(passed, announcedPort(port1));
      return [port2, [port2]];
    },
    deserialize: (port) => wrap(announcedPort(port)),
  });
}

/** Comlink's form of an answer that is an error. */
function unreadable(id: string): ComlinkMessage {
  const value = { name: "DataCloneError", message: "A message between threads could not be read.", stack: undefined };
  const wire = { id, type: "HANDLER", name: "throw", value: { isError: true, value } };
  return wire;
}
