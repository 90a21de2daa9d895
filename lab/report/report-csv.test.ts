import { expect, it } from "vitest";

import type { LoadCell } from "../load/load-cell.ts";
import type { NamedSectionResult } from "./bench-result.ts";
import { reportCsv } from "./report-csv.ts";

const CELL: LoadCell = {
  batching_mode: "static",
  batch_size: 8,
  concurrency: null,
  batch_window_ms: 50,
  drafts: "off",
  rounds: 1,
  requests: 40,
  input_tokens: 1600,
  output_tokens: 320,
  wall_ms: 1234.56789,
  p50_e2el_ms: 100,
  p95_e2el_ms: 200,
  p50_ttft_ms: 10,
  p95_ttft_ms: 20,
  p50_tpot_ms: 3,
  p50_itl_ms: 3,
  p95_itl_ms: 0.0123456789,
  output_tokens_per_s: 259.2,
  spread: NaN,
  mean_batch: 6.4,
  speed_up: null,
  speed_up_spread: null,
  efficiency: null,
  acceptance: null,
};

const section = (id: string, cells?: readonly LoadCell[]) => ({ id, cells }) as unknown as NamedSectionResult;

it("has one row a cell, under names with units; what is not known is empty", () => {
  const other: LoadCell = {
    ...CELL,
    batching_mode: "continuous",
    concurrency: 32,
    speed_up: 6.4,
    speed_up_spread: 0.05,
    efficiency: 0.8,
  };
  expect(reportCsv({ sections: [section("startup"), section("static-window", [CELL]), section("a,b", [other])] })).toBe(
    [
      "section,batching_mode,batch_size,concurrency,batch_window_ms,drafts,rounds,requests,input_tokens,output_tokens," +
        "wall_ms,p50_e2el_ms,p95_e2el_ms,p50_ttft_ms,p95_ttft_ms,p50_tpot_ms,p50_itl_ms,p95_itl_ms,output_tokens_per_s," +
        "spread,mean_batch,speed_up,speed_up_spread,efficiency,acceptance",
      "static-window,static,8,,50,off,1,40,1600,320,1234.57,100,200,10,20,3,3,0.0123457,259.2,,6.4,,,,",
      '"a,b",continuous,8,32,50,off,1,40,1600,320,1234.57,100,200,10,20,3,3,0.0123457,259.2,,6.4,6.4,0.05,0.8,',
      "",
    ].join("\r\n"),
  );
});

it("is nothing where no section has cells", () => {
  expect(reportCsv({ sections: [section("decode")] })).toBeNull();
});
