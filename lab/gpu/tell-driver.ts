import { toErrorData } from "../../src/protocol/errors.ts";
import type { Home, HomeOptions, HomeReport, Said } from "./home.ts";
import { runParts } from "./run-parts.ts";

/** Runs a home's parts, and tells the driver at an address what comes of them. Never rejects. */
export async function runHome(home: Home, options: HomeOptions, driver: string): Promise<void> {
  let last = Promise.resolve();
  const say = (said: Said) => {
    const body = JSON.stringify(said);
    last = last.then(async () => void (await fetch(driver, { method: "POST", body }))).catch(() => undefined);
    return last;
  };
  let numTold = -1;
  const tell = (report: HomeReport, what: string) => {
    const num = report.missing.length + report.groups.reduce((sum, { sections }) => sum + sections.length, 0);
    if (num > numTold) void say({ kind: "report", report });
    numTold = num;
    void say({ kind: "now", what });
  };
  try {
    await say({ kind: "report", report: await runParts(home, options, tell) });
    await say({ kind: "done" });
  } catch (error) {
    await say({ kind: "failed", message: toErrorData(error).message });
  }
}
