import type { LimitedPort } from "./limited-thread.ts";
import { answerCalls } from "./serve-thread.ts";

/** Answers calls in this thread, for homes without others: nothing ends a call. @param load loads what answers */
export function portInPlace<Call, Value>(load: () => Promise<(call: Call) => unknown>): LimitedPort<Call, Value> {
  let notify: Parameters<LimitedPort<Call, Value>["listen"]>[0] = () => undefined;
  const opening = load().then((answer) =>
    answerCalls(answer, (message) => notify(message as Parameters<typeof notify>[0])),
  );
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
