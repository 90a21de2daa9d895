// node tools/icons.mjs: renders public/icons/*.png from public/icon.svg. They are in git; run it when the drawing changes.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { listChromiums } from "./browsers/find-chromium.mjs";
import { launchChromium } from "./launch-chromium.mjs";
import { root } from "./run-command.mjs";

const svg = readFileSync(join(root, "public/icon.svg"), "utf8");
// Systems cut their own shape out of these: paper to the edge, the drawing in the inner 80%.
const fullBleed = svg
  .replace(/ rx="7"/, "")
  .replace(/(<rect width="32"[^>]*>)([\s\S]*)<\/svg>/, '$1<g transform="translate(3.2 3.2) scale(0.8)">$2</g></svg>');

const icons = [
  { name: "icon-192", size: 192, drawing: svg },
  { name: "icon-512", size: 512, drawing: svg },
  { name: "maskable-192", size: 192, drawing: fullBleed },
  { name: "maskable-512", size: 512, drawing: fullBleed },
  { name: "apple-touch-icon", size: 180, drawing: fullBleed },
];

const [executablePath] = listChromiums();
const browser = await launchChromium(executablePath);
try {
  const page = await browser.newPage();
  for (const { name, size, drawing } of icons) {
    await page.setViewportSize({ width: size, height: size });
    await page.setContent(`<style>body { margin: 0 } svg { display: block; width: ${size}px }</style>${drawing}`);
    await page.screenshot({ path: join(root, `public/icons/${name}.png`), omitBackground: true });
  }
} finally {
  await browser.close();
}
