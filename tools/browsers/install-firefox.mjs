import { aptGetInstall } from "./apt-get.mjs";
import { ensureBrowser } from "./find-browser.mjs";
import { listFirefoxes, tryFirefox } from "./find-firefox.mjs";

/** Firefox, and Mesa's Vulkan on the CPU, which it finds where there is no GPU. */
const PACKAGES = "firefox-esr mesa-vulkan-drivers libvulkan1";

/**
 * Returns the path of a Firefox that starts and has WebGPU; installs one where there is none. null where none can be had: a
 * line then says what was tried.
 */
export async function ensureFirefox() {
  const { path, tried } = await ensureBrowser("Firefox with WebGPU", {
    list: listFirefoxes,
    attempt: tryFirefox,
    installations: () => aptGetInstall(PACKAGES),
  });
  if (path !== null) return path;
  const what = tried.join("; ") || "no Firefox in the usual places";
  console.log(`Skipped: no Firefox with WebGPU can be had here (${what}). FIREFOX_PATH names one.`);
  return null;
}
