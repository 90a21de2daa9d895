/** Strokes the slanted lines that mean "cached" everywhere, within a rectangle. */
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
