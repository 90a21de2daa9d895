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
