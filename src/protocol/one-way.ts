import { pack, unpack, type PackedMessage } from "./packed-message.ts";
import type { EngineMessage } from "./service.ts";

type Listener = (message: EngineMessage) => void;

const oneWays = new WeakSet<object>();

/** Marks a function that the other side of Comlink may call, and whose calls nobody answers: each is one message. */
export function oneWay(listener: Listener): Listener {
  oneWays.add(listener);
  return listener;
}

/**
 * Comlink's handler for such functions, of both sides. With Comlink's own proxies each call waits for an answer, which every
 * step would have cost a message back and the bookkeeping for it.
 */
export const ONE_WAY = {
  name: "one-way",
  handler: {
    canHandle: (value: unknown): value is Listener => typeof value === "function" && oneWays.has(value),
    serialize(listener: Listener): [MessagePort, Transferable[]] {
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener("message", ({ data }: MessageEvent<PackedMessage>) => listener(unpack(data)));
      port1.start();
      return [port2, [port2]];
    },
    deserialize(port: MessagePort): Listener {
      return (message) => {
        port.postMessage(pack(message));
      };
    },
  },
} as const;
