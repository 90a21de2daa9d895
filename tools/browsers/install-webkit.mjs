import { aptGetInstall } from "./apt-get.mjs";
import { ensureBrowser } from "./find-browser.mjs";
import { launchWebKit, listWebKits } from "./find-webkit.mjs";

/** WebKitGTK with its driver, and a display that nobody sees. */
const PACKAGES = "webkit2gtk-driver xvfb";

/**
 * Returns the path of a WebKit driver that starts; installs one where there is none. null where none can be had: a line then
 * says what was tried.
 */
export async function ensureWebKit() {
  const { path, tried } = await ensureBrowser("WebKit", {
    list: listWebKits,
    async attempt(driverPath) {
      const { session, close } = await launchWebKit(driverPath);
      await close();
      return session.browser;
    },
    installations: () => aptGetInstall(PACKAGES),
  });
  if (path !== null) return path;
  const what = tried.join("; ") || "no WebKitWebDriver in the usual places";
  console.log(`Skipped: no WebKit can be had here (${what}). WEBKIT_DRIVER_PATH names a driver.`);
  return null;
}
