type OneWay = (message: unknown) => void;

const oneWays = new WeakSet<object>();

/** Marks a function that the other side of Comlink may call, and whose calls nobody answers: each is one message. */
export function oneWay<Message>(call: (message: Message) => void): (message: Message) => void {
  oneWays.add(call);
  return call;
}

/**
 * Comlink's handler for such functions, of both sides. With Comlink's own proxies each call waits for an answer, which every
 * step would have cost a message back and the bookkeeping for it.
 */
export const ONE_WAY = {
  name: "one-way",
  handler: {
    canHandle: (value: unknown): value is OneWay => typeof value === "function" && oneWays.has(value),
    serialize(call: OneWay): [MessagePort, Transferable[]] {
      const { port1, port2 } = new MessageChannel();
      port1.addEventListener("message", ({ data }: MessageEvent) => call(data));
      port1.start();
      return [port2, [port2]];
    },
    deserialize(port: MessagePort): OneWay {
      return (message) => {
        port.postMessage(message);
      };
    },
  },
} as const;
