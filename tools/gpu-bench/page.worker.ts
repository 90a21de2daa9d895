import { nameBrowser } from "../../src/ui/unsupported/describe-browser.ts";
import { indexedDbTuningStore } from "../../src/host/platforms/tuning-store.ts";
import type { HomeOptions } from "./home.ts";
import { runHome } from "./tell-driver.ts";

addEventListener("message", ({ data }: MessageEvent<string>) => {
  const options = JSON.parse(new URLSearchParams(data).get("options") ?? "{}") as HomeOptions;
  const runtime = nameBrowser(navigator.userAgent);
  const home = { name: "chromium", runtime, gpu: navigator.gpu, tuning: indexedDbTuningStore() } as const;
  void runHome(home, options, "/said");
});
