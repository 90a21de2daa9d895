import type { LoadStage } from "../../protocol/reports.ts";
import type { StageProgress } from "../../state/engine/load-stages.ts";
import { formatBytes, formatBytesOf, formatCount, formatTimeLeft } from "../format.ts";

export const STAGE_NAMES: Record<LoadStage, string> = {
  adapter: "Processor",
  tokenizer: "Tokenizer",
  weights: "Weights",
  kernels: "Kernels",
  cache: "Cache blocks",
};

/** Returns a stage's progress or result. Downloads count bytes, other stages items. */
export function describeStage(stage: LoadStage, progress: StageProgress): string {
  const { status, done, total, detail, msLeft } = progress;
  if (status === "todo") return "";
  const isFiles = stage === "tokenizer" || stage === "weights";
  if (status === "done") return detail ?? (isFiles ? formatBytes(total) : formatCount(total));
  if (total === 0) return detail ?? "";
  const amount = isFiles ? formatBytesOf(done, total) : `${formatCount(done)} of ${formatCount(total)}`;
  return msLeft === null ? amount : `${amount}, ${formatTimeLeft(msLeft)}`;
}
