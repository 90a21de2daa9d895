import type { ChorusEngine } from "../protocol/engine.ts";
import type { LoadProgress } from "../protocol/reports.ts";

/** An engine, or what creates one when it is first needed. */
export type EngineSource = ChorusEngine | ((onProgress: (progress: LoadProgress) => void) => Promise<ChorusEngine>);

/** The words of the Prompt API. */
export type Availability = "unavailable" | "downloadable" | "downloading" | "available";

/** Returns what opens one engine for all who share it, once, and says how far that is. */
export function lazyEngine(source: EngineSource) {
  const listeners = new Set<(progress: LoadProgress) => void>();
  let engine: Promise<ChorusEngine> | null = null;
  let availability: Availability = typeof source === "function" ? "downloadable" : "available";
  const create = async (): Promise<ChorusEngine> => {
    if (typeof source !== "function") return source;
    availability = "downloading";
    try {
      const created = await source((progress) => listeners.forEach((listener) => listener(progress)));
      availability = "available";
      return created;
    } catch (error) {
      engine = null;
      availability = "downloadable";
      throw error;
    } finally {
      listeners.clear();
    }
  };
  return {
    availability: () => availability,
    /** A failed attempt does not count: the next call tries again. */
    open(onProgress: (progress: LoadProgress) => void): Promise<ChorusEngine> {
      listeners.add(onProgress);
      return (engine ??= create());
    },
  };
}
