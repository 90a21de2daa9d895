import type { TabsMemory } from "../../state/engine/engine-tabs.ts";
import { formatBytes } from "../format.ts";

/** Describes the memory of several tabs' engines; null if no other tab has one. */
export function memoryWords({ hereBytes, numOthers, othersBytes }: TabsMemory): string | null {
  if (hereBytes === null || numOthers === 0) return null;
  const others = numOthers === 1 ? "another tab's takes" : `those of ${numOthers} other tabs take`;
  return `This tab's engine takes ${formatBytes(hereBytes)} of memory; ${others} ${formatBytes(othersBytes)}.`;
}
