import { expect, it } from "vitest";
import { nameBrowser } from "./describe-browser.ts";

const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
const CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36";
const WEBKIT_GTK =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/60.5 Safari/605.1.15";
const EDGE =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0";
const SAFARI =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15";

it.each([
  [FIREFOX, "Firefox 128 on Linux"],
  [CHROME, "Chrome 130 on Linux"],
  [EDGE, "Edge 142 on Windows"],
  [SAFARI, "Safari 18.6 on macOS"],
  [WEBKIT_GTK, "WebKit on Linux"],
  ["curl/8", "An unknown browser on an unknown system"],
])("%s", (userAgent, name) => expect(nameBrowser(userAgent)).toBe(name));
