import type { Batch } from "../../state/batch.ts";
import { Menu } from "../Menu.tsx";
import { saveFile } from "../save-file.ts";

/** Everything the engine told, to keep: for readRecording(), or for Prometheus. */
export function SaveMenu({ batch }: { batch: Batch }) {
  const saveRecording = () => {
    const text = batch.recording();
    if (text !== null) saveFile("chorus-run.jsonl", text, "application/jsonl");
  };
  const saveMetrics = async () => {
    const text = await batch.prometheusText();
    if (text !== null) saveFile("chorus-metrics.txt", text, "text/plain");
  };
  const items = [
    { label: "Steps and requests as JSON lines", run: saveRecording },
    { label: "Metrics as Prometheus text", run: () => void saveMetrics() },
  ];
  return <Menu name="Save" look="quiet" items={items} />;
}
