import { useEffect, useState } from "react";
import type { SchemaProblem } from "../../state/settings/check-settings.ts";

/** Why answers can't be held to a JSON schema; null: they can, there is none, or it is not known yet. */
export function useSchemaProblem(text: string | null, problemOf: SchemaProblem): string | null {
  const [found, setFound] = useState<{ readonly text: string; readonly problem: string | null } | null>(null);
  useEffect(() => {
    if (text === null) return;
    let isStale = false;
    problemOf(JSON.parse(text)).then(
      (problem) => {
        if (!isStale) setFound({ text, problem });
      },
      // What looks into schemas can't be loaded: the engine does so again, before it answers.
      () => undefined,
    );
    return () => {
      isStale = true;
    };
  }, [text, problemOf]);
  return found !== null && found.text === text ? found.problem : null;
}
