import { classNames } from "../class-names.ts";

/** The caret after the newest word of a growing answer; hollow while it waits. */
export function Caret({ isHollow = false }: { isHollow?: boolean }) {
  // No box of its own: the browser counts each step of a box as a layout shift.
  const look = isHollow
    ? "[box-shadow:inset_0_0_0_1.5px_var(--v)] motion-safe:[animation:blink_1.2s_steps(1)_infinite]"
    : "bg-(--v)";
  return <span className={classNames("ms-0.5 rounded-[1px] ps-1.75", look)} aria-hidden="true" />;
}
