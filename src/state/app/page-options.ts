import type { Settings } from "../settings/settings.ts";

interface PageOptions {
  /** Null: what was chosen before, or the embedded one. */
  readonly model: string | null;
  readonly sampling: Settings;
}

const SAMPLING_FIELDS = ["temperature", "top_p", "top_k", "seed", "max_tokens"] as const;

/** What the page's address asks for: `?model=models/other/&temperature=0`. A value that is no number is left to the
 * engine to refuse, by name. */
export function readPageOptions(search: string): PageOptions {
  const params = new URLSearchParams(search);
  const given = SAMPLING_FIELDS.flatMap((field) => {
    const value = params.get(field);
    return value === null ? [] : [[field, Number(value)]];
  });
  return { model: params.get("model"), sampling: Object.fromEntries(given) as Settings };
}
