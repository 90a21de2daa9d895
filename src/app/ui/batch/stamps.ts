// Small drawings that a canvas shows hundreds of times. Each is drawn once and then copied: without a GPU behind the
// canvas a rounded shape costs the main thread several times as much as a copy.

const stamps = new Map<string, HTMLCanvasElement>();

/**
 * More than sixteen voices need in both themes. Beyond that, a zoom or another screen has made the old ones useless.
 */
const MAX_STAMPS = 64;

/**
 * Returns the drawing with that name, `width` by `height` CSS pixels at the screen's sharpness; `draw` makes it the first time.
 */
export function stampOf(
  name: string,
  width: number,
  height: number,
  draw: (g: CanvasRenderingContext2D) => void,
): HTMLCanvasElement {
  const key = `${name} ${width} ${height} ${devicePixelRatio}`;
  const made = stamps.get(key);
  if (made) return made;
  if (stamps.size >= MAX_STAMPS) stamps.clear();
  const stamp = document.createElement("canvas");
  stamp.width = Math.ceil(width * devicePixelRatio);
  stamp.height = Math.ceil(height * devicePixelRatio);
  const g = stamp.getContext("2d");
  g?.scale(devicePixelRatio, devicePixelRatio);
  if (g) draw(g);
  stamps.set(key, stamp);
  return stamp;
}

/** Strokes slanted lines, the sign of "cached", in a rectangle. */
export function hatch(g: CanvasRenderingContext2D, x: number, y: number, width: number, height: number): void {
  g.save();
  g.beginPath();
  g.rect(x, y, width, height);
  g.clip();
  g.beginPath();
  for (let offset = 0; offset < width + height; offset += 4) {
    g.moveTo(x, y + offset);
    g.lineTo(x + offset, y);
  }
  g.stroke();
  g.restore();
}
