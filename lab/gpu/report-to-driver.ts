import { toErrorData } from "../../src/protocol/errors.ts";
import type { Home, HomeOptions, HomeReport, Said } from "./home.ts";
import { runParts } from "./run-parts.ts";

/** Runs a home's parts, and reports their results to the driver's URL. Never rejects. */
export async function runHome(home: Home, options: HomeOptions, driver: string): Promise<void> {
  let last = Promise.resolve();
  const say = (said: Said) => {
    const body = JSON.stringify(said);
    last = last.then(async () => void (await fetch(driver, { method: "POST", body }))).catch(() => undefined);
    return last;
  };
  let numReported = -1;
  const notify = (report: HomeReport, what: string) => {
    const num = report.missing.length + report.groups.reduce((sum, { sections }) => sum + sections.length, 0);
    if (num > numReported) void say({ kind: "report", report });
    numReported = num;
    void say({ kind: "now", what });
  };
  try {
    await say({ kind: "report", report: await runParts(home, options, notify) });
    await say({ kind: "done" });
  } catch (error) {
    await say({ kind: "failed", message: toErrorData(error).message });
  }
}
