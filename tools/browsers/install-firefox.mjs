import { aptGetInstall } from "./apt-get.mjs";
import { findFirefox } from "./find-firefox.mjs";
import { INSTALL_MS, run } from "../run-command.mjs";

/** Firefox, and Mesa's Vulkan on the CPU, which it finds where there is no GPU. */
const PACKAGES = "firefox-esr mesa-vulkan-drivers libvulkan1";

/**
 * The path of a Firefox that starts and has WebGPU; installs one where there is none. null where none can be had: a line
 * then says what was tried.
 *
 * @returns {Promise<string | null>}
 */
export async function ensureFirefox() {
  let { executablePath, report } = await findFirefox();
  const command = executablePath ? null : aptGetInstall(PACKAGES);
  if (command) {
    console.log(`No Firefox with WebGPU here. Trying: ${command}`);
    const done = await run(command, {
      output: "hide",
      limitMs: INSTALL_MS,
      env: { DEBIAN_FRONTEND: "noninteractive" },
    });
    report.push(`${command}: ${done ? "done" : "failed"}`);
    if (done) {
      const found = await findFirefox();
      executablePath = found.executablePath;
      report.push(...found.report);
    }
  }
  if (executablePath) {
    console.log(`Using ${report.at(-1)}`);
    return executablePath;
  }
  const tried = [...new Set(report)].join("; ") || "no Firefox in the usual places";
  console.log(`Skipped: no Firefox with WebGPU can be had here (${tried}). FIREFOX_PATH names one.`);
  return null;
}
