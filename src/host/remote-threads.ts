import type { ThreadKind, ThreadProvider } from "../protocol/thread-provider.ts";
import type { ThreadPort } from "../threads/thread-port.ts";

/** Threads for a worker that starts none itself: its pages start them, and hand over a port to each. */
export class RemoteThreads {
  readonly #handOver: (port: MessagePort) => MessagePort;
  /** Each page's threads: what tells those who use them that the page is gone. In the order in which pages came. */
  readonly #lenders = new Map<ThreadProvider, Set<() => void>>();
  #numStarted = 0;

  /** @param handOver makes the port one that is moved to the page, not copied */
  constructor(handOver: (port: MessagePort) => MessagePort) {
    this.#handOver = handOver;
  }

  add(lender: ThreadProvider): void {
    this.#lenders.set(lender, new Set());
  }

  /** The page is gone, and its threads with it. Idempotent. */
  remove(lender: ThreadProvider): void {
    const gone = this.#lenders.get(lender) ?? [];
    this.#lenders.delete(lender);
    for (const notify of gone) notify();
  }

  /** @throws DOMException where no page lends any */
  open<Call, Answer>(kind: ThreadKind): ThreadPort<Call, Answer> {
    const [first] = this.#lenders;
    if (first === undefined) throw new DOMException("No page can start a thread.", "InvalidStateError");
    const [lender, users] = first;
    const id = ++this.#numStarted;
    const { port1: port, port2 } = new MessageChannel();
    const handedOver = this.#handOver(port2);
    let notifyClosed: () => void = () => undefined;
    return {
      post: (call) => port.postMessage(call),
      listen(onAnswer, onFailure, onClosed) {
        notifyClosed = onClosed;
        users.add(notifyClosed);
        port.addEventListener("message", ({ data }: MessageEvent<Answer | null>) => onAnswer(data));
        port.addEventListener("messageerror", () => onAnswer(null));
        port.start();
        lender.start(id, kind, handedOver).then(onFailure, (error: unknown) => onFailure(String(error)));
      },
      end() {
        users.delete(notifyClosed);
        port.close();
        lender.end(id);
      },
    };
  }
}
