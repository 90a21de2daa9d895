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
    if (found) return `${name} ${found[1]} on ${system}`;
  }
  return `An unknown browser on ${system}`;
}

/** Returns what to try first in this browser. */
export function suggestRemedy({ userAgent, hasGpu, isSecureContext }: BrowserHints): string {
  if (!isSecureContext) return "Open this page over https:// or on localhost: elsewhere browsers hide WebGPU.";
  const browser = nameBrowser(userAgent);
  const isLinux = browser.endsWith("on Linux");
  if (hasGpu) {
    return isLinux
      ? "Turn on hardware acceleration in the browser's settings, set chrome://flags/#enable-unsafe-webgpu and #enable-vulkan to Enabled, and restart it."
      : "Turn on hardware acceleration in the browser's settings, update the graphics driver, and restart the browser.";
  }
  if (browser.startsWith("Firefox")) {
    return "In about:config set dom.webgpu.enabled to true and restart Firefox, or open this page in Chrome or Edge.";
  }
  if (browser.startsWith("Safari") || browser.endsWith("on iOS")) return "Update to Safari 26 (macOS or iOS 26).";
  if (isLinux) {
    return "Update to version 145 or later, or set chrome://flags/#enable-unsafe-webgpu and #enable-vulkan to Enabled and restart.";
  }
  return "Update the browser, and turn on hardware acceleration in its settings.";
}
