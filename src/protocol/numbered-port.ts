// Messages that go one way through a port, each with its number: one that comes twice is dropped, one that is lost is noticed.

interface Numbered<Message> {
  readonly n: number;
  readonly message: Message;
}

/** Returns what posts messages with numbers from 1. It throws as the port does; the next one then has that number. */
export function numbering<Message>(port: Pick<MessagePort, "postMessage">): (message: Message) => void {
  let n = 0;
  return (message) => {
    port.postMessage({ n: n + 1, message } satisfies Numbered<Message>);
    n += 1;
  };
}

/**
 * Hears what the other side posts so.
 * @param onLost called where messages can't be read or did not come, before the next one
 */
export function hearNumbered<Message>(
  port: Pick<MessagePort, "addEventListener" | "start">,
  listener: (message: Message) => void,
  onLost: () => void,
): void {
  let last = 0;
  const hear = (event: Event) => {
    const { data } = event as MessageEvent<Numbered<Message> | null>;
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
