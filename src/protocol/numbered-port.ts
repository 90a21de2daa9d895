// Numbers the messages that go one way through a port: a repeated one is dropped, and a lost one is noticed.

interface Numbered {
  readonly n: number;
  readonly message: unknown;
}

/** Returns a function that posts messages with numbers from 1. If the port throws, the next message gets the same number. */
export function numbering(port: Pick<MessagePort, "postMessage">): (message: unknown) => void {
  let n = 0;
  return (message) => {
    port.postMessage({ n: n + 1, message } satisfies Numbered);
    n += 1;
  };
}

/**
 * Receives the numbered messages of the other side.
 * @param onLost called if messages can't be read or did not arrive, before the next one
 */
export function receiveNumbered(
  port: Pick<MessagePort, "addEventListener" | "start">,
  listener: (message: unknown) => void,
  onLost: () => void,
): void {
  let last = 0;
  const receive = (event: Event) => {
    const { data } = event as MessageEvent<Numbered | null>;
    if (data !== null && !("n" in data)) return; // an announcement, not a numbered message
    const n = data?.n ?? last + 1;
    if (n <= last) return;
    if (data === null || n > last + 1) onLost();
    last = n;
    if (data !== null) listener(data.message);
  };
  port.addEventListener("message", receive);
  port.addEventListener("messageerror", receive);
  port.start();
}
