import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FrameFlusher, MAX_FLUSHES_A_FRAME } from "./frame-flusher.ts";

let frame: (() => void) | null = null;
beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("requestAnimationFrame", (callback: () => void) => {
    frame = callback;
    return 1;
  });
  vi.stubGlobal("cancelAnimationFrame", () => {
    frame = null;
  });
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

it("runs each flush once per frame, however often it was asked for", () => {
  const flusher = new FrameFlusher();
  const [one, two] = [vi.fn<() => void>(), vi.fn<() => void>()];
  for (const flush of [one, two, one]) flusher.schedule(flush);
  expect(one).not.toHaveBeenCalled();
  frame?.();
  vi.runAllTimers();
  expect(one).toHaveBeenCalledOnce();
  expect(two).toHaveBeenCalledOnce();
});

it("does not wait for frames that don't come, as in a hidden tab", () => {
  const flusher = new FrameFlusher();
  const flush = vi.fn<() => void>();
  flusher.schedule(flush);
  vi.advanceTimersByTime(1000);
  expect(flush).toHaveBeenCalledOnce();
  expect(frame).toBeNull();
});

it("spreads many flushes over frames, and nobody has a second turn before all have had one", () => {
  const flusher = new FrameFlusher();
  const order: number[] = [];
  const flushes = Array.from({ length: 2 * MAX_FLUSHES_A_FRAME }, (_, index) => () => void order.push(index));
  for (const flush of flushes) flusher.schedule(flush);
  for (let count = 1; count <= 2; count++) {
    frame?.();
    expect(order).toHaveLength(count * MAX_FLUSHES_A_FRAME);
    // New tokens for all.
    for (const flush of flushes) flusher.schedule(flush);
  }
  expect(order).toEqual(flushes.map((_, index) => index));
});
