import type { Batch } from "../../state/batch/batch.ts";
import { Menu } from "../components/Menu.tsx";
import { saveFile } from "../save-file.ts";

/** Saves the engine's events for readRecording(), or its metrics for Prometheus. */
export function SaveMenu({ batch }: { batch: Batch }) {
  const items = [
    { label: "Steps and requests as JSON lines", run: () => saveRecording(batch) },
    { label: "Metrics as Prometheus text", run: () => void saveMetrics(batch) },
  ];
  return <Menu name="Save" look="quiet" items={items} />;
}

/** For readRecording(). */
export function saveRecording(batch: Batch): void {
  const text = batch.recording();
  if (text !== null) saveFile("chorus-run.jsonl", text, "application/jsonl");
}

export async function saveMetrics(batch: Batch): Promise<void> {
  const text = await batch.prometheusText();
  if (text !== null) saveFile("chorus-metrics.txt", text, "text/plain");
}
