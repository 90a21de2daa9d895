import { createRequire } from "node:module";
import { join } from "node:path";

import { installFolder } from "./browsers/install-folder.mjs";
import { root } from "./run-command.mjs";

const folder = join(root, "tools", "pictures");

/** Frames that come sooner after each other than this are left out. */
const LEAST_FRAME_MS = 100;
/** How long the end is shown before the picture starts over. */
const LAST_FRAME_MS = 4000;

/** @typedef {{ png: Buffer, atMs: number }} Frame */

/** Records what a page shows while `play` runs, at the pace at which it happens. */
export async function recordFrames(
  /** @type {import("playwright").Page} */ page,
  /** @type {() => Promise<void>} */ play,
) {
  /** @type {Frame[]} */
  const frames = [];
  const session = await page.context().newCDPSession(page);
  session.on("Page.screencastFrame", ({ data, metadata, sessionId }) => {
    // The last frames come when the session has ended.
    session.send("Page.screencastFrameAck", { sessionId }).catch(() => undefined);
    const atMs = 1000 * (metadata.timestamp ?? 0);
    const last = frames.at(-1);
    if (last === undefined || atMs - last.atMs >= LEAST_FRAME_MS)
      frames.push({ png: Buffer.from(data, "base64"), atMs });
  });
  await session.send("Page.startScreencast", { format: "png" });
  await play();
  await session.send("Page.stopScreencast");
  await session.detach();
  return frames;
}

export async function writeMovingPicture(/** @type {string} */ path, /** @type {readonly Frame[]} */ frames) {
  const { isInstalled } = await installFolder(folder, "about 20 MB");
  if (!isInstalled) throw new Error("The moving picture needs sharp, which npm could not install.");
  const sharp = createRequire(join(folder, "package.json"))("sharp");
  const delay = frames.map(({ atMs }, index) => Math.round((frames[index + 1]?.atMs ?? atMs + LAST_FRAME_MS) - atMs));
  const pictures = frames.map(({ png }) => png);
  await sharp(pictures, { join: { animated: true } })
    .webp({ quality: 60, effort: 6, minSize: true, delay, loop: 0 })
    .toFile(path);
}
