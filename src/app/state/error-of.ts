import { toErrorData, type ChorusErrorData } from "../../index.ts";

/** Resolves with the error of work that fails; null if it succeeds. */
export function errorOf(work: Promise<unknown>): Promise<ChorusErrorData | null> {
  return work.then(() => null, toErrorData);
}

type Result<Value> = { readonly value: Value; readonly error: null } | { readonly error: ChorusErrorData };

/** Returns what `read` returns, or the error that it throws. */
export function resultOf<Value>(read: () => Value): Result<Value> {
  try {
    return { value: read(), error: null };
  } catch (error) {
    return { error: toErrorData(error) };
  }
}
