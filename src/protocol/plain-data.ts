// Data for another thread must be plain, or the browser refuses to copy it.

import { ChorusError } from "./errors.ts";

export function isDataCloneError(error: unknown): error is DOMException {
  return error instanceof DOMException && error.name === "DataCloneError";
}

/** Returns the error for a value that can't be posted; it names the field. */
export function notPlainData(what: string, value: object, cause: DOMException): ChorusError {
  const field = Object.entries(value).find(([, part]) => !isPlainData(part))?.[0] ?? null;
  const where = field === null ? "" : ` (see ${field})`;
  return new ChorusError("invalid_type", `${what} must be plain data${where}: ${cause.message}`, field, { cause });
}

function isPlainData(value: unknown): boolean {
  try {
    structuredClone(value);
    return true;
  } catch {
    return false;
  }
}
