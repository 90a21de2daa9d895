import { flushSync } from "react-dom";
import type { BatchingMode } from "../../../index.ts";
import type { Batch } from "../../state/batch/batch.ts";
import { modeOf } from "../../state/engine/serving.ts";
import { playRecording } from "../../state/player/pending-recording.ts";
import { BATCHING_MODES } from "../batch/BatchingSwitch.tsx";
import { saveFile } from "../save-file.ts";
import { HAS_ROOM_FOR_MAP, PHONE } from "../use-media.ts";
import { inGroup, WITH_BATCH, type ActionContext, type GroupedAction } from "./action.ts";

const hasRecording = ({ app }: ActionContext) => app.batch.isRecording;
const isPhone = () => matchMedia(PHONE).matches;
const timingTitle = ({ app }: ActionContext) =>
  app.batch.isTimingKernels ? "Stop timing kernels" : "Start timing kernels";

/** Opens a part of the dock and focuses it. */
function goToPart({ dock }: Batch, part: string): void {
  flushSync(() => {
    if (isPhone()) dock.show(true);
    else if (!dock.store.getState().isOpen) dock.toggle();
  });
  const section = document.querySelector<HTMLElement>(`section[aria-label="${part}"]`);
  section?.scrollIntoView({ block: "nearest" });
  section?.focus();
}

const batchBy = (mode: BatchingMode): GroupedAction => {
  const [, name = "", words = ""] = BATCHING_MODES.find(([value]) => value === mode) ?? [];
  return {
    title: `${name} batching`,
    words: `mode switch ${words}`,
    when: ({ app: { serving } }) => modeOf(serving.store.getState()) !== mode && !serving.store.getState().lockedMode,
    run: ({ app }) => app.serving.chooseMode(mode),
  };
};
const partOfBatch = (name: string, words: string, when = () => true): GroupedAction => ({
  title: `Go to the ${name.toLowerCase()}`,
  words,
  when,
  run: ({ app }) => goToPart(app.batch, name),
});
const zoom = (direction: 1 | -1, title: string, words: string): GroupedAction => ({
  title,
  words,
  when: ({ app }) => app.batch.dock.canZoom(direction),
  run: ({ app }) => app.batch.dock.zoom(direction),
});

export const BATCH_ACTIONS = {
  ...inGroup("Batch", WITH_BATCH, {
    "batching.continuous": batchBy("continuous"),
    "batching.static": batchBy("static"),
    "batching.sequential": batchBy("sequential"),
    "batch.toggle": {
      title: ({ app }) => {
        const { isOpen, isInView } = app.batch.dock.store.getState();
        return (isPhone() ? isInView : isOpen) ? "Close Batch" : "Open Batch";
      },
      keys: "Alt+B",
      words: "dock panel collapse expand show hide",
      run: ({ app }) => {
        const { dock } = app.batch;
        if (isPhone()) dock.show(!dock.store.getState().isInView);
        else dock.toggle();
      },
    },
    "batch.timeline": partOfBatch("Timeline", "steps sequences score"),
    "batch.charts": partOfBatch("Charts", "tokens per second latency queue ttft itl"),
    "batch.map": partOfBatch("Cache blocks", "kv map memory pages", () => matchMedia(HAS_ROOM_FOR_MAP).matches),
    "timeline.pause": {
      title: ({ app }) => (app.batch.dock.store.getState().isPaused ? "Resume the timeline" : "Pause the timeline"),
      keys: "Alt+P",
      words: "resume stop freeze",
      run: ({ app }) => app.batch.dock.togglePause(),
    },
    "timeline.in": zoom(1, "Zoom the timeline in", "wider nearer larger"),
    "timeline.out": zoom(-1, "Zoom the timeline out", "narrower further smaller"),
  }),
  ...inGroup("Data", WITH_BATCH, {
    "batch.play": {
      title: "Play this run",
      words: "recording player replay scrub trace perfetto",
      when: hasRecording,
      run: ({ app }) => playRecording("this run", app.batch.recording() ?? ""),
    },
    "batch.recording": {
      title: "Save a recording of this run, with the chats' words",
      words: "export steps requests JSON lines file",
      when: hasRecording,
      run: ({ app }) => saveFile("chorus-run.jsonl", app.batch.recording() ?? "", "application/jsonl"),
    },
    "batch.kernels": {
      title: timingTitle,
      label: (context) => {
        const { timingObstacle } = context.app.batch;
        return timingTitle(context) + (timingObstacle === null ? "" : ` (${timingObstacle})`);
      },
      words: "recording trace perfetto profile gpu shaders slower",
      when: ({ app }) => app.batch.timingObstacle === null,
      run: ({ app }) => app.batch.toggleKernelTiming(),
    },
    "batch.metrics": {
      title: "Save the metrics as Prometheus text",
      words: "export counters histograms file",
      when: ({ app }) => app.batch.isWatching,
      run: ({ app }) => {
        void app.batch.prometheusText().then((text) => {
          if (text !== null) saveFile("chorus-metrics.txt", text, "text/plain");
        });
      },
    },
  }),
};
