import type { Batch } from "../../state/batch.ts";
import { saveFile } from "../save-file.ts";

/** For readRecording(). */
export function saveRecording(batch: Batch): void {
  const text = batch.recording();
  if (text !== null) saveFile("chorus-run.jsonl", text, "application/jsonl");
}

export async function saveMetrics(batch: Batch): Promise<void> {
  const text = await batch.prometheusText();
  if (text !== null) saveFile("chorus-metrics.txt", text, "text/plain");
}
