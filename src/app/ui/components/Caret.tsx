import { classNames } from "../class-names.ts";

/** The caret after the newest word of a growing answer; hollow while it waits. */
export function Caret({ isHollow = false }: { isHollow?: boolean }) {
  // No box of its own: the browser counts each step of a box as a layout shift.
  return <span className={classNames("caret", isHollow && "hollow")} aria-hidden="true" />;
}
