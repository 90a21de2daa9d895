import { beforeEach, expect, it, vi } from "vitest";
import { Dock, MAX_DOCK_PX, MIN_DOCK_PX, STEP_WIDTHS_PX } from "./dock.ts";

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  });
});

it("remembers whether it is open, and its height within bounds", () => {
  expect(new Dock().store.getState()).toMatchObject({ isOpen: true, heightPx: null });
  const dock = new Dock();
  dock.toggle();
  dock.setHeight(300.4);
  expect(new Dock().store.getState()).toMatchObject({ isOpen: false, heightPx: 300 });
  dock.setHeight(1e9);
  expect(new Dock().store.getState().heightPx).toBe(MAX_DOCK_PX);
  dock.setHeight(-5);
  expect(new Dock().store.getState().heightPx).toBe(MIN_DOCK_PX);
  dock.setHeight(NaN);
  expect(dock.store.getState().heightPx).toBe(MIN_DOCK_PX);
});

it("zooms from one width to the next, as far as there are any", () => {
  const dock = new Dock();
  expect(dock.store.getState().stepPx).toBe(9);
  expect([dock.canZoom(1), dock.canZoom(-1)]).toEqual([true, true]);
  for (let i = 0; i < 20; i++) dock.zoom(1);
  expect([dock.canZoom(1), dock.canZoom(-1)]).toEqual([false, true]);
  expect(dock.store.getState().stepPx).toBe(STEP_WIDTHS_PX.at(-1));
  for (let i = 0; i < 20; i++) dock.zoom(-1);
  expect(dock.store.getState().stepPx).toBe(STEP_WIDTHS_PX[0]);
  expect([dock.canZoom(1), dock.canZoom(-1)]).toEqual([true, false]);
});

it("zooms so that the wanted steps fit, or as many as possible", () => {
  const dock = new Dock();
  dock.settleZoom(600);
  expect(dock.store.getState().stepPx).toBe(9);
  for (const [steps, stepPx] of [
    [200, 3],
    [201, 2],
    [400, 1.5],
    [20, 27],
    [600, 1],
    [5000, 0.5],
  ] as const) {
    dock.fit(steps);
    dock.settleZoom(600);
    expect(dock.store.getState()).toMatchObject({ stepPx, fitSteps: steps });
  }
});

it("fits no more once the person zooms", () => {
  const dock = new Dock();
  dock.fit(200);
  dock.settleZoom(600);
  dock.zoom(1);
  dock.settleZoom(600);
  expect(dock.store.getState()).toMatchObject({ stepPx: 5, fitSteps: null });
});

it("pauses and goes on, and points at one pane at a time", () => {
  const dock = new Dock();
  dock.togglePause();
  expect(dock.store.getState().isPaused).toBe(true);
  const before = dock.store.getState();
  dock.highlight(null);
  expect(dock.store.getState()).toBe(before);
  dock.highlight(3);
  expect(dock.store.getState().highlightedPane).toBe(3);
});
