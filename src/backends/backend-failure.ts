import { toChorusError, type ChorusError } from "../protocol/errors.ts";

export interface FallibleDevice {
  /** Resolves when the device can't go on. */
  readonly failure: Promise<ChorusError>;
}

/** How long a device may take to say that it is lost, once something failed for that reason. */
const GRACE_MS = 1000;

/** Rejects as soon as the backend fails: some of its promises would stay pending for ever. */
export function withFailureGuard<T>(promise: Promise<T>, { failure }: FallibleDevice): Promise<T> {
  return new Promise((resolve, reject) => {
    promise.then(resolve, reject);
    void failure.then(reject);
  });
}

/** Returns what lies behind an error. After a device's loss, calls fail in many ways, often before it is said to be lost. */
export async function causeOf({ failure }: FallibleDevice, error: unknown, graceMs = GRACE_MS): Promise<ChorusError> {
  const known = toChorusError(error);
  if (known.code !== "internal_error") return known;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const grace = new Promise<ChorusError>((resolve) => {
    timer = setTimeout(() => resolve(known), graceMs);
  });
  try {
    return await Promise.race([failure, grace]);
  } finally {
    clearTimeout(timer);
  }
}
