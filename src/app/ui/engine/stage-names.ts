import type { LoadStage } from "../../../index.ts";
import type { StageProgress } from "../../state/engine/load-stages.ts";
import { formatBytes, formatBytesOf, formatCount, formatTimeLeft } from "../format.ts";

export const STAGE_NAMES: Record<LoadStage, string> = {
  adapter: "Processor",
  tokenizer: "Tokenizer",
  weights: "Weights",
  memory: "Memory",
  kernels: "Kernels",
  cache: "Cache blocks",
};

const WAITING = "waiting for the server";

/** Returns a stage's progress or result. Files and memory count bytes, other stages items. */
export function describeStage(stage: LoadStage, progress: StageProgress): string {
  const { status, done, total, detail, msLeft, isWaiting } = progress;
  if (status === "todo") return "";
  const isBytes = stage === "tokenizer" || stage === "weights" || stage === "memory";
  if (status === "done") return detail ?? (isBytes ? formatBytes(total) : formatCount(total));
  if (total === 0) return isWaiting ? WAITING : (detail ?? "");
  const amount = isBytes ? formatBytesOf(done, total) : `${formatCount(done)} of ${formatCount(total)}`;
  if (isWaiting) return `${amount}, ${WAITING}`;
  return msLeft === null ? amount : `${amount}, ${formatTimeLeft(msLeft)}`;
}
