import type { Batch } from "../../state/batch.ts";
import { Menu } from "../Menu.tsx";
import { saveMetrics, saveRecording } from "./save-run.ts";

/** Everything the engine told, to keep: for readRecording(), or for Prometheus. */
export function SaveMenu({ batch }: { batch: Batch }) {
  const items = [
    { label: "Steps and requests as JSON lines", run: () => saveRecording(batch) },
    { label: "Metrics as Prometheus text", run: () => void saveMetrics(batch) },
  ];
  return <Menu name="Save" look="quiet" items={items} />;
}
