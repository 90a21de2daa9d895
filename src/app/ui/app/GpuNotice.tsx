import { useState } from "react";
import type { ChorusErrorData } from "../../../index.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { gpuNoticeOf } from "../../state/engine/gpu-notice.ts";
import { isNewNotice } from "../../state/remembered.ts";
import { Notice } from "../components/Notice.tsx";
import { useStore } from "../use-store.ts";

/**
 * A line above the panes: why the GPU is not used, or not as it should be. It is said once, and whenever somebody chooses the GPU;
 * after that the list of what computes has it.
 */
export function GpuNotice({ engine }: { engine: EngineControl }) {
  const notice = useStore(engine.store, (state) =>
    state.status === "ready" ? gpuNoticeOf(state.engine.model) : undefined,
  );
  const missing = useStore(engine.withoutGpu);
  // A restarted engine does not say it again.
  const [dismissed, setDismissed] = useState<ChorusErrorData | null>(null);
  if (notice === undefined || (missing && missing === dismissed)) return null;
  if (missing)
    return <Notice words={`The GPU is not used. ${missing.message}`} onDismiss={() => setDismissed(missing)} />;
  return <Line key={notice} notice={notice} />;
}

function Line({ notice }: { notice: string | null }) {
  const [isShown, setShown] = useState(() => isNewNotice("gpu-notice", notice));
  if (!isShown) return null;
  return <Notice words={notice} onDismiss={() => setShown(false)} />;
}
