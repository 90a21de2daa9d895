import type { Platform } from "../../src/host/platforms/platform.ts";
import { memoryTuningStore } from "../../src/host/platforms/tuning-store.ts";
import type { FakeBackend } from "./fake-backend.ts";

/** A home with these backends, and nothing else: no store, no threads, nothing to compare answers with. */
export function fakePlatform(backends: readonly FakeBackend[], more: Partial<Platform> = {}): Platform {
  return {
    backends: backends.map(({ offered }) => offered),
    reference: null,
    runtime: "test",
    tuning: memoryTuningStore(),
    openGrammarThread: null,
    openTextThread: null,
    openModelStore: () => Promise.resolve(null),
    now: () => performance.now(),
    ...more,
  };
}
