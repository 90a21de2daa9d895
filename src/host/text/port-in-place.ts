import { portInPlace } from "../../threads/port-in-place.ts";
import type { TextCall, TextPort } from "./text-calls.ts";

/** Makes tokens of texts in the engine's own thread. */
export function textPortInPlace(): TextPort {
  return portInPlace(async () => {
    // The templates' language is fetched beside the weights, not before the page can be used.
    const service = new (await import("./text-service.ts")).TextService();
    return (call: TextCall) => service.answer(call);
  });
}
