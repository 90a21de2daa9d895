import type { Random } from "./seeded-random.ts";

/**
 * When each of `count` requests comes, in milliseconds from the start: a Poisson process (independent, exponential gaps),
 * stretched so that the last one comes after exactly count / rate seconds, as vLLM's benchmark does. A rate of Infinity is
 * all at once.
 */
export function poissonArrivalsMs(count: number, requestsPerSecond: number, random: Random): number[] {
  if (requestsPerSecond === Infinity) return Array.from({ length: count }, () => 0);
  let at = 0;
  const arrivals = Array.from({ length: count }, () => (at += -Math.log(1 - random())));
  const scale = at === 0 ? 0 : (1000 * count) / requestsPerSecond / at;
  return arrivals.map((arrival) => arrival * scale);
}
