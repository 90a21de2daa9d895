// Small drawings that a canvas shows hundreds of times. Each is drawn once and then copied: without a GPU behind the
// canvas a rounded shape costs the main thread several times as much as a copy.

const sprites = new Map<string, HTMLCanvasElement>();

/** More than sixteen panes need in both themes. Beyond that, a zoom or another screen has made the old ones useless. */
const MAX_SPRITES = 64;

/** Returns the drawing with that name, in CSS pixels at the screen's sharpness; `draw` makes it the first time. */
export function spriteOf(
  name: string,
  width: number,
  height: number,
  draw: (g: CanvasRenderingContext2D) => void,
): HTMLCanvasElement {
  const key = `${name} ${width} ${height} ${devicePixelRatio}`;
  const made = sprites.get(key);
  if (made) return made;
  if (sprites.size >= MAX_SPRITES) sprites.clear();
  const sprite = document.createElement("canvas");
  sprite.width = Math.ceil(width * devicePixelRatio);
  sprite.height = Math.ceil(height * devicePixelRatio);
  const g = sprite.getContext("2d");
  g?.scale(devicePixelRatio, devicePixelRatio);
  if (g) draw(g);
  sprites.set(key, sprite);
  return sprite;
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
