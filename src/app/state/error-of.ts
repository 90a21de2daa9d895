import { toErrorData, type ChorusErrorData } from "../../index.ts";

/** Resolves with the error of work that fails; null if it succeeds. */
export function errorOf(work: Promise<unknown>): Promise<ChorusErrorData | null> {
  return work.then(() => null, toErrorData);
}
