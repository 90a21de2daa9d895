import type { Sampling } from "./stream-answer.ts";

export interface PageOptions {
  readonly model: string;
  readonly sampling: Sampling;
}

const EMBEDDED_MODEL = "models/chorus-chat/";
const SAMPLING_FIELDS = ["temperature", "top_p", "top_k", "seed", "max_tokens"] as const;

/** What the page's address asks for: `?model=models/other/&temperature=0`. A value that is no number is left to the
 * engine to refuse, by name. */
export function readPageOptions(search: string): PageOptions {
  const params = new URLSearchParams(search);
  const sampling: Sampling = {};
  for (const field of SAMPLING_FIELDS) {
    const value = params.get(field);
    if (value !== null) sampling[field] = Number(value);
  }
  return { model: params.get("model") ?? EMBEDDED_MODEL, sampling };
}
