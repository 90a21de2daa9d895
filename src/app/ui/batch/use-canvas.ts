import { useCallback, useEffect, useRef, type RefObject } from "react";
import { onResize } from "../listen.ts";
import { canvasColors, onCanvasColorsChange, type CanvasColors } from "./canvas-colors.ts";

/** A blank canvas, its size in CSS pixels, and the theme's colours. */
export interface Surface {
  readonly g: CanvasRenderingContext2D;
  readonly width: number;
  readonly height: number;
  readonly colors: CanvasColors;
}

export type Draw = (surface: Surface) => void;

/** Something that a drawing shows, and that says when it has changed. */
export interface Source {
  readonly subscribe: (listener: () => void) => () => void;
}

/**
 * A canvas that is as sharp as the screen. It is redrawn when a source, its size or the theme has changed, and after
 * each render; at most once per frame, and not while it has no size. The number of sources must not change.
 */
export function useCanvas(draw: Draw, sources: readonly Source[]): RefObject<HTMLCanvasElement | null> {
  const canvas = useRef<HTMLCanvasElement>(null);
  const newest = useRef(draw);
  const frame = useRef(0);

  const redraw = useCallback(() => {
    if (frame.current !== 0) return;
    frame.current = requestAnimationFrame(() => {
      frame.current = 0;
      if (canvas.current) paint(canvas.current, newest.current);
    });
  }, []);

  useEffect(() => {
    newest.current = draw;
    redraw();
  });
  useEffect(() => {
    const ends = [onCanvasColorsChange(redraw), ...sources.map(({ subscribe }) => subscribe(redraw))];
    if (canvas.current) ends.push(onResize(canvas.current, redraw));
    return () => {
      for (const end of ends) end();
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- a caller's list is made anew with each render
  }, [redraw, ...sources]);
  return canvas;
}

function paint(canvas: HTMLCanvasElement, draw: Draw): void {
  const { clientWidth, clientHeight } = canvas;
  const g = canvas.getContext("2d");
  if (!g || clientWidth === 0 || clientHeight === 0) return;
  const [width, height] = [clientWidth, clientHeight].map((px) => Math.round(px * devicePixelRatio));
  // Setting a size, even the same one, clears the canvas.
  if (canvas.width !== width) canvas.width = width ?? 0;
  if (canvas.height !== height) canvas.height = height ?? 0;
  g.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  g.clearRect(0, 0, clientWidth, clientHeight);
  draw({ g, width: clientWidth, height: clientHeight, colors: canvasColors() });
}
