import { ChorusError, toErrorData } from "./errors.ts";
import { hearNumbered, numbering } from "./numbered-port.ts";
import { pack, unpack, type PackedMessage } from "./packed-message.ts";
import { EMPTY_MESSAGE, type EngineMessage } from "./service.ts";

type Listener = (message: EngineMessage) => void;

const oneWays = new WeakSet<object>();

/** Marks a function that the other side of Comlink may call, and whose calls nobody answers: each is one message. */
export function oneWay(listener: Listener): Listener {
  oneWays.add(listener);
  return listener;
}

/**
 * Comlink's handler for such functions, of both sides. With Comlink's own proxies each call waits for an answer, which every
 * step would have cost a message back and the bookkeeping for it. One that can't be posted fails the requests whose events
 * it has. Where one can't be read, or does not come, the listener hears of it: it may have had events of any request.
 */
export const ONE_WAY = {
  name: "one-way",
  handler: {
    canHandle: (value: unknown): value is Listener => typeof value === "function" && oneWays.has(value),
    serialize(listener: Listener): [MessagePort, Transferable[]] {
      const { port1, port2 } = new MessageChannel();
      hearNumbered(
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

/** Returns what stands for a message that can't be posted. */
function failed({ events, fatal }: EngineMessage, cause: unknown): EngineMessage {
  const error = toErrorData(cause);
  const tickets = new Set(events.map(({ ticket }) => ticket));
  return { ...EMPTY_MESSAGE, events: [...tickets].map((ticket) => ({ type: "error", ticket, error })), fatal };
}
