import { flushSync } from "react-dom";
import type { Batch } from "../../state/batch/batch.ts";
import type { Command } from "../../state/commands/commands.ts";
import { BATCHING_MODES } from "./BatchingSwitch.tsx";
import { HAS_ROOM_FOR_MAP, PHONE } from "../use-media.ts";
import { kernelTimingTitle, playRun, saveMetrics, saveRecording } from "./SaveMenu.tsx";

/** The commands of the batch and its view. */
export function batchCommands(batch: Batch): readonly Command[] {
  const { dock, mode } = batch;
  const view = () => dock.store.getState();
  const isPhone = () => matchMedia(PHONE).matches;

  /** Opens a part of the dock and focuses it. */
  const goTo = (part: string): void => {
    flushSync(() => {
      if (isPhone()) dock.show(true);
      else if (!view().isOpen) dock.toggle();
    });
    const section = document.querySelector<HTMLElement>(`section[aria-label="${part}"]`);
    section?.scrollIntoView({ block: "nearest" });
    section?.focus();
  };
  const part = (id: string, name: string, words: string, isEnabled = () => true): Command => ({
    id: `batch.${id}`,
    title: `Go to the ${name.toLowerCase()}`,
    group: "Batch",
    words,
    isEnabled,
    run: () => goTo(name),
  });

  return [
    ...BATCHING_MODES.map(([value, name, words]): Command => ({
      id: `batching.${value}`,
      title: `${name} batching`,
      group: "Batch",
      words: `mode switch ${words}`,
      isEnabled: () => mode.store.getState() !== value && !mode.held.getState(),
      run: () => mode.choose(value),
    })),
    {
      id: "batch.toggle",
      get title() {
        const { isOpen, isInView } = view();
        return (isPhone() ? isInView : isOpen) ? "Close Batch" : "Open Batch";
      },
      group: "Batch",
      keys: "Alt+B",
      words: "dock panel collapse expand show hide",
      run: () => (isPhone() ? dock.show(!view().isInView) : dock.toggle()),
    },
    part("timeline", "Timeline", "steps sequences score"),
    part("charts", "Charts", "tokens per second latency queue ttft itl"),
    part("map", "Cache blocks", "kv map memory pages", () => matchMedia(HAS_ROOM_FOR_MAP).matches),
    {
      id: "timeline.pause",
      get title() {
        return view().isPaused ? "Resume the timeline" : "Pause the timeline";
      },
      group: "Batch",
      keys: "Alt+P",
      words: "resume stop freeze",
      run: () => dock.togglePause(),
    },
    {
      id: "timeline.in",
      title: "Zoom the timeline in",
      group: "Batch",
      words: "wider nearer larger",
      isEnabled: () => dock.canZoom(1),
      run: () => dock.zoom(1),
    },
    {
      id: "timeline.out",
      title: "Zoom the timeline out",
      group: "Batch",
      words: "narrower further smaller",
      isEnabled: () => dock.canZoom(-1),
      run: () => dock.zoom(-1),
    },
    {
      id: "batch.play",
      title: "Play this run",
      group: "Data",
      words: "recording player replay scrub trace perfetto",
      isEnabled: () => batch.recording() !== null,
      run: () => playRun(batch),
    },
    {
      id: "batch.recording",
      title: "Save a recording of this run, with the chats' words",
      group: "Data",
      words: "export steps requests JSON lines file",
      isEnabled: () => batch.recording() !== null,
      run: () => saveRecording(batch),
    },
    {
      id: "batch.kernels",
      get title() {
        return kernelTimingTitle(batch.kernelTiming.getState());
      },
      group: "Data",
      words: "recording trace perfetto profile gpu shaders slower",
      isEnabled: () => batch.kernelTiming.getState().obstacle === null,
      run: () => batch.toggleKernelTiming(),
    },
    {
      id: "batch.metrics",
      title: "Save the metrics as Prometheus text",
      group: "Data",
      words: "export counters histograms file",
      isEnabled: () => batch.isWatching,
      run: () => void saveMetrics(batch),
    },
  ];
}
