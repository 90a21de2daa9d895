// Messages that go one way through a port, each with its number: one that comes twice is dropped, one that is lost is noticed.

interface Numbered {
  readonly n: number;
  readonly message: unknown;
}

/** Returns what posts messages with numbers from 1. It throws as the port does; the next one then has that number. */
export function numbering(port: Pick<MessagePort, "postMessage">): (message: unknown) => void {
  let n = 0;
  return (message) => {
    port.postMessage({ n: n + 1, message } satisfies Numbered);
    n += 1;
  };
}

/**
 * Hears what the other side posts so.
 * @param onLost called where messages can't be read or did not come, before the next one
 */
export function hearNumbered(
  port: Pick<MessagePort, "addEventListener" | "start">,
  listener: (message: unknown) => void,
  onLost: () => void,
): void {
  let last = 0;
  const hear = (event: Event) => {
    const { data } = event as MessageEvent<Numbered | null>;
    if (data !== null && !("n" in data)) return; // of those who say who answers
    const n = data?.n ?? last + 1;
    if (n <= last) return;
    if (data === null || n > last + 1) onLost();
    last = n;
    if (data !== null) listener(data.message);
  };
  port.addEventListener("message", hear);
  port.addEventListener("messageerror", hear);
  port.start();
}
