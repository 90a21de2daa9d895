import type { ParsedRequest } from "../api/parsed-request.ts";
import { UNSEEDED } from "./text/text-calls.ts";

/** Returns a generator of seeds for requests without one. The engine's seed determines the sequence. */
export function seedSequence(engineSeed: number): () => number {
  let state = engineSeed >>> 0;
  // Weyl sequence through a 32-bit mixer (the finaliser of MurmurHash3). Each step must be odd; a seed's high bits choose it.
  const step = 0x9e3779b9 + 2 * Math.floor(engineSeed / 2 ** 32);
  const next32 = () => {
    state = (state + step) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
    return (x ^ (x >>> 16)) >>> 0;
  };
  return () => (next32() >>> 11) * 2 ** 32 + next32();
}

/** Draws seeds for prompts without one, in the order in which requests come. */
export function withSeeds(parsed: ParsedRequest, nextSeed: () => number): ParsedRequest {
  const prompts = parsed.prompts.map(({ params, ...prompt }) => ({
    ...prompt,
    params: params.seed === UNSEEDED ? { ...params, seed: nextSeed() } : params,
  }));
  return { ...parsed, prompts };
}
