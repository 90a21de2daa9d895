import { classNames } from "../class-names.ts";

/** Rows of the timeline that fit into the lower dock. */
const MAX_LOW_ROWS = 12;

/** Returns the class of the dock's body, which is higher for many rows. @param numRows most rows to expect */
export function dockBodyClass(numRows: number): string {
  return classNames("dock-body", numRows > MAX_LOW_ROWS && "high");
}
