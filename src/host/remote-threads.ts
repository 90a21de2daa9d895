import type { ThreadKind, ThreadProvider } from "../protocol/thread-provider.ts";
import type { ThreadPort } from "../threads/thread-port.ts";

/** Threads for a worker that starts none itself: its pages start them, and hand over a port to each. */
export class RemoteThreads {
  /** Each page's threads: what notifies those who use them that the page is gone. In the order in which pages came. */
  readonly #providers = new Map<ThreadProvider, Set<() => void>>();
  #numStarted = 0;

  add(provider: ThreadProvider): void {
    this.#providers.set(provider, new Set());
  }

  /** The page is gone, and its threads with it. Idempotent. */
  remove(provider: ThreadProvider): void {
    const gone = this.#providers.get(provider) ?? [];
    this.#providers.delete(provider);
    for (const notify of gone) notify();
  }

  /** @throws DOMException where there is no page */
  open<Call, Answer>(kind: ThreadKind): ThreadPort<Call, Answer> {
    const [first] = this.#providers;
    if (first === undefined) throw new DOMException("No page can start a thread.", "InvalidStateError");
    const [provider, users] = first;
    const id = ++this.#numStarted;
    const { port1: port, port2 } = new MessageChannel();
    let notifyClosed: () => void = () => undefined;
    return {
      post: (call) => port.postMessage(call),
      listen(onAnswer, onFailure, onClosed) {
        notifyClosed = onClosed;
        users.add(notifyClosed);
        port.addEventListener("message", ({ data }: MessageEvent<Answer | null>) => onAnswer(data));
        port.addEventListener("messageerror", () => onAnswer(null));
        port.start();
        provider.start(id, kind, port2).then(onFailure, (error: unknown) => onFailure(String(error)));
      },
      end() {
        users.delete(notifyClosed);
        port.close();
        provider.end(id);
      },
    };
  }
}
