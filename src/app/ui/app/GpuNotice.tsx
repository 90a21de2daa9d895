import { useState } from "react";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { gpuNoticeOf } from "../../state/engine/gpu-notice.ts";
import { isNewNotice } from "../../state/remembered.ts";
import { Notice } from "../components/Notice.tsx";
import { useStore } from "../use-store.ts";

/** A line above the panes: why the GPU is not used, or not as it should be. It is said once; after that the list of what computes has it. */
export function GpuNotice({ engine }: { engine: EngineControl }) {
  const notice = useStore(engine.store, (state) =>
    state.status === "ready" ? gpuNoticeOf(state.engine.model) : undefined,
  );
  return notice !== undefined && <Line key={notice} notice={notice} />;
}

function Line({ notice }: { notice: string | null }) {
  const [isShown, setShown] = useState(() => isNewNotice("gpu-notice", notice));
  if (!isShown) return null;
  return <Notice words={notice} onDismiss={() => setShown(false)} />;
}
