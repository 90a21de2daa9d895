import { ChorusError, toErrorData } from "./errors.ts";
import { receiveNumbered, numbering } from "./numbered-port.ts";
import { pack, unpack, type PackedMessage } from "./packed-message.ts";
import { EMPTY_MESSAGE, type EngineMessage } from "./service.ts";

type Listener = (message: EngineMessage) => void;

const oneWays = new WeakSet<object>();

/** Marks a function that the other side of Comlink may call without an answer: each call is one message. */
export function oneWay(listener: Listener): Listener {
  oneWays.add(listener);
  return listener;
}

/**
 * Comlink's handler for such functions, on both sides. With Comlink's own proxies each call would wait for an answer: one more
 * message for every step. A call that can't be posted fails the requests whose events it has. If one can't be read, or does
 * not arrive, the listener is notified: it may have had events of any request.
 */
export const ONE_WAY = {
  name: "one-way",
  handler: {
    canHandle: (value: unknown): value is Listener => typeof value === "function" && oneWays.has(value),
    serialize(listener: Listener): [MessagePort, Transferable[]] {
      const { port1, port2 } = new MessageChannel();
      receiveNumbered(
        port1,
        (message) => listener(unpack(message as PackedMessage)),
        () => listener({ ...EMPTY_MESSAGE, lost: LOST }),
      );
      return [port2, [port2]];
    },
    deserialize(port: MessagePort): Listener {
      const post = numbering(port);
      return (message) => {
        try {
          post(pack(message));
        } catch (error) {
          post(pack(failed(message, error)));
        }
      };
    },
  },
} as const;

const LOST = toErrorData(new ChorusError("internal_error", "A message of the engine could not be read."));

/** Returns the substitute for a message that can't be posted. */
function failed({ events, fatal }: EngineMessage, cause: unknown): EngineMessage {
  const error = toErrorData(cause);
  const tickets = new Set(events.map(({ ticket }) => ticket));
  return { ...EMPTY_MESSAGE, events: [...tickets].map((ticket) => ({ type: "error", ticket, error })), fatal };
}
