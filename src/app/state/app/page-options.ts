import { BACKEND_CHOICES } from "../../../index.ts";
import type { Settings } from "../settings/settings.ts";

const SAMPLING_FIELDS = ["temperature", "top_p", "top_k", "seed", "max_tokens"] as const;

/** Reads the page's address: `?model=models/other/&backend=cpu&temperature=0`. The engine refuses wrong values. */
export function readPageOptions(search: string) {
  const params = new URLSearchParams(search);
  const given = SAMPLING_FIELDS.flatMap((field) => {
    const value = params.get(field);
    return value === null ? [] : [[field, Number(value)]];
  });
  const backend = params.get("backend");
  return {
    backend: BACKEND_CHOICES.find((choice) => choice === backend) ?? null,
    model: params.get("model"),
    addressSettings: Object.fromEntries(given) as Settings,
  };
}
