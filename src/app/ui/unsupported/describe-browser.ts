/** The parts of `navigator` that identify the browser. */
interface BrowserHints {
  readonly userAgent: string;
  readonly hasGpu: boolean;
  readonly isSecureContext: boolean;
}

const BROWSERS: readonly (readonly [name: string, version: RegExp])[] = [
  ["Edge", /Edg(?:A|iOS)?\/(\d+)/],
  ["Opera", /OPR\/(\d+)/],
  ["Firefox", /(?:Firefox|FxiOS)\/(\d+)/],
  ["Chrome", /(?:Chrome|CriOS|HeadlessChrome)\/(\d+)/],
  ["Safari", /Version\/(\d+(?:\.\d+)?).*Safari/],
];
const SYSTEMS: readonly (readonly [name: string, mark: RegExp])[] = [
  ["Android", /Android/],
  ["iOS", /iPhone|iPad/],
  ["Windows", /Windows/],
  ["macOS", /Mac OS X/],
  ["ChromeOS", /CrOS/],
  ["Linux", /Linux/],
];

/** "Firefox 128 on Linux". */
export function nameBrowser(userAgent: string): string {
  const system = SYSTEMS.find(([, mark]) => mark.test(userAgent))?.[0] ?? "an unknown system";
  for (const [name, version] of BROWSERS) {
    const found = version.exec(userAgent);
    // There is no Safari on Linux, only other browsers that claim to be it, with made-up versions.
    if (found && name === "Safari" && system === "Linux") return "WebKit on Linux";
    if (found) return `${name} ${found[1]} on ${system}`;
  }
  return `An unknown browser on ${system}`;
}

/** Browsers with WebGPU, as docs/browsers.md has them. */
export const BROWSERS_WITH_WEBGPU =
  "Chrome and Edge 113 (on Linux 144, at first on Intel's graphics only), Safari 26, Firefox 141 on Windows and 147 on Apple's own chips, and later ones";

/** The first versions of Chrome, Edge and others of Chromium with WebGPU. */
const FIRST_CHROMIUM = 113;
const FIRST_ON_LINUX = 144;

/** Returns what to try first in this browser. */
export function suggestRemedy({ userAgent, hasGpu, isSecureContext }: BrowserHints): string {
  if (!isSecureContext) return "Open this page over https:// or on localhost: elsewhere browsers hide WebGPU.";
  const browser = nameBrowser(userAgent);
  const isLinux = browser.endsWith("on Linux");
  if (browser.startsWith("Firefox")) return hasGpu ? FIREFOX_WITHOUT_ADAPTER : FIREFOX_WITHOUT_WEBGPU;
  if (browser.startsWith("WebKit")) return "WebKit has no WebGPU on Linux. Open this page in Chrome, Edge or Firefox.";
  if (browser.startsWith("Safari") || browser.endsWith("on iOS")) return "Update to Safari 26 (macOS or iOS 26).";
  const isNew = Number(/ (\d+)/.exec(browser)?.[1] ?? 0) >= (isLinux ? FIRST_ON_LINUX : FIRST_CHROMIUM);
  if (isLinux) {
    const first = hasGpu
      ? "Turn on hardware acceleration in the browser's settings, or set"
      : isNew
        ? "Set"
        : `Update to version ${FIRST_ON_LINUX} or later, or set`;
    return `${first} chrome://flags/#enable-unsafe-webgpu and #enable-vulkan to Enabled, and restart it.`;
  }
  return hasGpu || isNew
    ? "Turn on hardware acceleration in the browser's settings, update the graphics driver, and restart the browser."
    : "Update the browser, and turn on hardware acceleration in its settings.";
}

const FIREFOX_WITHOUT_WEBGPU =
  "Update Firefox. Where it still has no WebGPU (on Linux, Android and Intel Macs), set dom.webgpu.enabled and dom.webgpu.workers.enabled to true in about:config and restart it, or open this page in Chrome or Edge.";
const FIREFOX_WITHOUT_ADAPTER =
  "Turn on hardware acceleration in Firefox's settings. If that is not enough, set gfx.webgpu.ignore-blocklist to true in about:config, and restart it.";
