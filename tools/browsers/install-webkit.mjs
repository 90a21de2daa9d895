import { aptGetInstall } from "./apt-get.mjs";
import { findWebKit } from "./find-webkit.mjs";
import { INSTALL_MS, run } from "../run-command.mjs";

/** WebKitGTK with its driver, and a display that nobody sees. */
const PACKAGES = "webkit2gtk-driver xvfb";

/**
 * The path of a WebKit driver that starts; installs one where there is none. null where none can be had: a line then says
 * what was tried.
 *
 * @returns {Promise<string | null>}
 */
export async function ensureWebKit() {
  let { driverPath, report } = await findWebKit();
  const command = driverPath ? null : aptGetInstall(PACKAGES);
  if (command) {
    console.log(`No WebKit here. Trying: ${command}`);
    const done = await run(command, {
      output: "hide",
      limitMs: INSTALL_MS,
      env: { DEBIAN_FRONTEND: "noninteractive" },
    });
    report.push(`${command}: ${done ? "done" : "failed"}`);
    if (done) {
      const found = await findWebKit();
      driverPath = found.driverPath;
      report.push(...found.report);
    }
  }
  if (driverPath) {
    console.log(`Using ${report.at(-1)}`);
    return driverPath;
  }
  const tried = [...new Set(report)].join("; ") || "no WebKitWebDriver in the usual places";
  console.log(`Skipped: no WebKit can be had here (${tried}). WEBKIT_DRIVER_PATH names a driver.`);
  return null;
}
