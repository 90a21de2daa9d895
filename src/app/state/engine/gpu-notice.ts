import type { ModelCard } from "../../../index.ts";

/** Returns why the GPU is not used, or why it runs plainer kernels; null if all is as it should be. */
export function gpuNoticeOf({ backend, notice }: Pick<ModelCard, "backend" | "notice">): string | null {
  return backend === "cpu" && notice !== null ? `The GPU is not used. ${notice}` : notice;
}
