import { indexedDbTuningStore } from "../../src/host/platforms/tuning-store.ts";
import type { HomeOptions } from "./home.ts";
import { runHome } from "./report-to-driver.ts";

addEventListener("message", ({ data }: MessageEvent<string>) => {
  const options = JSON.parse(new URLSearchParams(data).get("options") ?? "{}") as HomeOptions;
  const home = {
    name: "chromium",
    runtime: `Chromium ${/Chrome\/(\d+)/.exec(navigator.userAgent)?.[1] ?? ""}`.trim(),
    gpu: navigator.gpu,
    tuning: indexedDbTuningStore(),
  } as const;
  void runHome(home, options, "/said");
});
