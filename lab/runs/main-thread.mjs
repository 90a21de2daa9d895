// Reads from Chromium's trace what a page's main thread did.

/** The categories that the trace needs. */
export const TRACE_CATEGORIES = ["devtools.timeline", "disabled-by-default-devtools.timeline"];

/** What the browser calls its work; all other work is script: handlers, timers, React, garbage. */
const KINDS = /** @type {const} */ ({
  UpdateLayoutTree: "style",
  Layout: "layout",
  PrePaint: "paint",
  Paint: "paint",
  Layerize: "paint",
  Commit: "paint",
});
const FRAME_ENDS_WITH = "Commit";

/** @typedef {{ script: number, style: number, layout: number, paint: number, all: number }} FrameMs */
/** @typedef {{ ms: number, cpuMs: number }} TaskMs */

/**
 * Each task, and for each frame how much CPU time its parts took: all that the thread did since the frame before.
 *
 * @returns {{ tasks: TaskMs[], frames: FrameMs[] }}
 */
export function mainThreadWork(/** @type {any[]} */ traceEvents) {
  const names = traceEvents.filter(({ name, args }) => name === "thread_name" && args.name === "CrRendererMain");
  const isMain = (/** @type {any} */ event) => names.some(({ pid, tid }) => pid === event.pid && tid === event.tid);
  const events = traceEvents.filter((event) => event.ph === "X" && event.dur !== undefined && isMain(event));
  // What contains comes before what is contained.
  events.sort((a, b) => a.ts - b.ts || b.dur - a.dur);

  /** @type {FrameMs[]} */
  const frames = [];
  let frame = emptyFrame();
  /** @type {any[]} */
  const open = [];
  const close = () => {
    const { name } = open.pop();
    if (name !== FRAME_ENDS_WITH) return;
    frames.push(frame);
    frame = emptyFrame();
  };
  const isOver = (/** @type {any} */ event, /** @type {number} */ ts) => event.ts + event.dur <= ts;
  for (const event of events) {
    while (open.length > 0 && isOver(open.at(-1), event.ts)) close();
    const cpuMs = cpuMsOf(event);
    frame[kindOf(event)] += cpuMs;
    const parent = open.at(-1);
    if (parent) frame[kindOf(parent)] -= cpuMs;
    else frame.all += cpuMs;
    open.push(event);
  }
  const tasks = events.filter(({ name }) => name === "RunTask");
  return { tasks: tasks.map((task) => ({ ms: task.dur / 1000, cpuMs: cpuMsOf(task) })), frames };
}

const emptyFrame = () => ({ script: 0, style: 0, layout: 0, paint: 0, all: 0 });

/** @returns {"script" | "style" | "layout" | "paint"} */
function kindOf(/** @type {{ name: string }} */ { name }) {
  return KINDS[/** @type {keyof typeof KINDS} */ (name)] ?? "script";
}

function cpuMsOf(/** @type {{ dur: number, tdur?: number }} */ { dur, tdur = dur }) {
  return tdur / 1000;
}
