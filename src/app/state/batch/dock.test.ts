import { beforeEach, describe, expect, it, vi } from "vitest";
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

describe("in a low window", () => {
  /** A window whose height media queries ask for. */
  const openIn = (heightPx: number) => {
    const media: { matches: boolean; mostPx: number; changed: () => void }[] = [];
    vi.stubGlobal("matchMedia", (query: string) => {
      const mostPx = Number(/max-height: (\d+)px/.exec(query)?.[1]);
      const one = { mostPx, matches: heightPx <= mostPx, changed: () => {} };
      media.push(one);
      return Object.assign(one, { addEventListener: (_: string, changed: () => void) => (one.changed = changed) });
    });
    const resize = (px: number) => {
      for (const one of media) {
        one.matches = px <= one.mostPx;
        one.changed();
      }
    };
    return { dock: new Dock(), resize };
  };
  const isOpen = (dock: Dock) => dock.store.getState().isOpen;

  it("begins closed, and opens once by itself when there is something to share", () => {
    expect(isOpen(openIn(800).dock)).toBe(true);
    const { dock } = openIn(720);
    expect(isOpen(dock)).toBe(false);
    dock.openOnce();
    expect(isOpen(dock)).toBe(true);
    dock.toggle();
    dock.openOnce();
    expect(isOpen(dock)).toBe(false);
  });

  it("does what the person chose, also at the next visit", () => {
    const { dock } = openIn(720);
    dock.toggle();
    expect(isOpen(openIn(720).dock)).toBe(true);
    dock.toggle();
    const { dock: next } = openIn(720);
    next.openOnce();
    expect(isOpen(next)).toBe(false);
    expect(isOpen(openIn(900).dock)).toBe(false);
  });

  it("lower still it opens by hand only, and that counts while the window is so low", () => {
    const { dock, resize } = openIn(450);
    dock.openOnce();
    expect(isOpen(dock)).toBe(false);
    dock.toggle();
    dock.openOnce();
    expect(isOpen(dock)).toBe(true);
    resize(720);
    expect(isOpen(dock), "as there was something to share").toBe(true);
    resize(390);
    expect(isOpen(dock)).toBe(false);
    expect(isOpen(openIn(720).dock), "nothing is remembered").toBe(false);
  });
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
