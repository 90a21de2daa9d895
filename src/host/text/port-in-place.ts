import { answerCalls } from "../../threads/serve-thread.ts";
import type { TextPort } from "./text-calls.ts";

/** Makes tokens of texts in the engine's own thread, for homes that have no other: nothing ends a call there. */
export function textPortInPlace(): TextPort {
  let notify: Parameters<TextPort["listen"]>[0] = () => undefined;
  // The templates' language is fetched beside the weights, not before the page can be used.
  const opening = import("./text-service.ts").then(({ TextService }) => {
    const service = new TextService();
    return answerCalls(service.answer.bind(service), (answer) => notify(answer as Parameters<typeof notify>[0]));
  });
  return {
    post(call) {
      opening.then(
        (take) => take(call),
        () => undefined,
      );
    },
    listen(onAnswer, onFailure) {
      notify = onAnswer;
      opening.catch((error: unknown) => onFailure(String(error)));
    },
    end: () => void (notify = () => undefined),
  };
}
