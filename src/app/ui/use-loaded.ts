import { useEffect, useState } from "react";

/** Returns what `load` (the same with each render) resolves with for this key; null until then, and where it fails. */
export function useLoaded<Key, Value>(key: Key, load: (key: Key, signal: AbortSignal) => Promise<Value>): Value | null {
  const [loaded, setLoaded] = useState<{ readonly key: Key; readonly value: Value } | null>(null);
  useEffect(() => {
    const leaving = new AbortController();
    const { signal } = leaving;
    void load(key, signal).then(
      (value) => signal.aborted || setLoaded({ key, value }),
      () => undefined,
    );
    return () => leaving.abort();
  }, [key, load]);
  return loaded !== null && loaded.key === key ? loaded.value : null;
}
