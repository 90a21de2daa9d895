import { parseJson } from "../../../index.ts";
import { useEffect, useState } from "react";
import type { SchemaProblem } from "../../state/settings/field.ts";

/** Returns why a JSON schema isn't supported; null if it is, if there is none, or until that is known. */
export function useSchemaProblem(text: string | null, problemOf: SchemaProblem): string | null {
  const [found, setFound] = useState<{ readonly text: string; readonly problem: string | null } | null>(null);
  useEffect(() => {
    if (text === null) return;
    let isStale = false;
    problemOf(parseJson(text)).then(
      (problem) => {
        if (!isStale) setFound({ text, problem });
      },
      // The check can't be loaded. The engine checks again before it answers.
      () => undefined,
    );
    return () => {
      isStale = true;
    };
  }, [text, problemOf]);
  return found !== null && found.text === text ? found.problem : null;
}
