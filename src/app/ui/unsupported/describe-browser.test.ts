import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { BROWSERS_WITH_WEBGPU, nameBrowser, suggestRemedy } from "./describe-browser.ts";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36";
const WEBKIT_GTK =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/60.5 Safari/605.1.15";
const EDGE =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0";
const SAFARI =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15";

describe("nameBrowser", () => {
  it.each([
    [FIREFOX, "Firefox 128 on Linux"],
    [CHROME, "Chrome 130 on Linux"],
    [EDGE, "Edge 142 on Windows"],
    [SAFARI, "Safari 18.6 on macOS"],
    [WEBKIT_GTK, "WebKit on Linux"],
    ["curl/8", "An unknown browser on an unknown system"],
  ])("%s", (userAgent, name) => expect(nameBrowser(userAgent)).toBe(name));
});

describe("suggestRemedy", () => {
  const hints = { userAgent: CHROME, hasGpu: false, isSecureContext: true };

  it("speaks of the address first where WebGPU is hidden for its sake", () => {
    expect(suggestRemedy({ ...hints, isSecureContext: false })).toContain("https://");
  });

  it("tells a missing API from a missing adapter", () => {
    expect(suggestRemedy(hints)).toContain("144");
    expect(suggestRemedy({ ...hints, hasGpu: true })).toContain("hardware acceleration");
    expect(suggestRemedy({ ...hints, userAgent: FIREFOX, hasGpu: true })).toContain("gfx.webgpu.ignore-blocklist");
  });

  it("asks nobody to update a browser that is new enough", () => {
    const on = (userAgent: string) => suggestRemedy({ ...hints, userAgent });
    const newer = CHROME.replace("130", "156");
    expect(on(CHROME)).toContain("Update to version 144 or later");
    expect(on(newer)).not.toMatch(/update/i);
    expect(on(newer)).toContain("chrome://flags");
    expect(on(EDGE)).not.toContain("Update the browser");
    expect(on(EDGE.replace("Edg/142", "Edg/100"))).toContain("Update the browser");
  });

  it("speaks of the browser that is there", () => {
    expect(suggestRemedy({ ...hints, userAgent: FIREFOX })).toContain("dom.webgpu.enabled");
    for (const hasGpu of [false, true]) {
      expect(suggestRemedy({ ...hints, userAgent: FIREFOX, hasGpu })).not.toContain("chrome://");
    }
    expect(suggestRemedy({ ...hints, userAgent: WEBKIT_GTK })).toContain("Open this page in Chrome, Edge or Firefox");
    expect(suggestRemedy({ ...hints, userAgent: SAFARI })).toContain("Safari 26");
    expect(suggestRemedy({ ...hints, userAgent: EDGE })).not.toContain("flags");
  });
});

it("docs/browsers.md names the same browsers", () => {
  expect(readFileSync("docs/browsers.md", "utf8").replaceAll(/\s+/g, " ")).toContain(BROWSERS_WITH_WEBGPU);
});
