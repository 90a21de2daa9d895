import type { Settings } from "../settings/settings.ts";

interface PageOptions {
  /** Null: the model chosen before, or the embedded one. */
  readonly model: string | null;
  readonly sampling: Settings;
}

const SAMPLING_FIELDS = ["temperature", "top_p", "top_k", "seed", "max_tokens"] as const;

/**
 * Reads the options in the page's address: `?model=models/other/&temperature=0`. The engine refuses a value that isn't
 * a number, and names it.
 */
export function readPageOptions(search: string): PageOptions {
  const params = new URLSearchParams(search);
  const given = SAMPLING_FIELDS.flatMap((field) => {
    const value = params.get(field);
    return value === null ? [] : [[field, Number(value)]];
  });
  return { model: params.get("model"), sampling: Object.fromEntries(given) as Settings };
}
