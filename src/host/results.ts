// The result of a call as plain data: a value, or an error that can be posted.

import { toErrorData } from "../protocol/errors.ts";
import type { Result } from "../protocol/service.ts";

export function resultOf<T>(answer: () => T): Result<T> {
  try {
    return { ok: true, value: answer() };
  } catch (error) {
    return { ok: false, error: toErrorData(error) };
  }
}

export async function resultLater<T>(answer: () => Promise<T>): Promise<Result<T>> {
  try {
    return { ok: true, value: await answer() };
  } catch (error) {
    return { ok: false, error: toErrorData(error) };
  }
}
