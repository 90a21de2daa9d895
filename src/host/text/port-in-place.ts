import type { TextAnswer, TextPort } from "./text-calls.ts";

/** Makes tokens of texts in the engine's own thread, for homes that have no other: nothing ends a call there. */
export function textPortInPlace(): TextPort {
  // The templates' language is fetched beside the weights, not before the page can be used.
  const opening = import("./text-service.ts").then(({ TextService }) => new TextService());
  let tell: (answer: TextAnswer) => void = () => undefined;
  return {
    post(call) {
      opening.then(
        (service) => tell(service.answer(call)),
        () => undefined,
      );
    },
    listen(onAnswer, onFailure) {
      tell = onAnswer;
      opening.catch((error: unknown) => onFailure(String(error)));
    },
    end: () => void (tell = () => undefined),
  };
}
