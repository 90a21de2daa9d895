import { BACKEND_CHOICES, type BackendChoice } from "../../../index.ts";
import type { Settings } from "../settings/settings.ts";

interface PageOptions {
  /** Null: the one chosen before, or the machine's default. */
  readonly backend: BackendChoice | null;
  /** Null: the model chosen before, or the embedded one. */
  readonly model: string | null;
  readonly sampling: Settings;
}

const SAMPLING_FIELDS = ["temperature", "top_p", "top_k", "seed", "max_tokens"] as const;

/**
 * Reads the options in the page's address: `?model=models/other/&backend=cpu&temperature=0`. The engine refuses a value that isn't
 * a number, and names it.
 */
export function readPageOptions(search: string): PageOptions {
  const params = new URLSearchParams(search);
  const given = SAMPLING_FIELDS.flatMap((field) => {
    const value = params.get(field);
    return value === null ? [] : [[field, Number(value)]];
  });
  const backend = params.get("backend");
  return {
    backend: BACKEND_CHOICES.find((choice) => choice === backend) ?? null,
    model: params.get("model"),
    sampling: Object.fromEntries(given) as Settings,
  };
}
