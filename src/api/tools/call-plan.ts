import type { MarkedFormat } from "./marked-format.ts";
import type { ToolRequest } from "./tool-fields.ts";

/** How the answers of a request call functions. */
export interface CallPlan extends Pick<ToolRequest, "choice" | "isOlder" | "tools"> {
  readonly format: MarkedFormat;
  /** Whether an answer that calls nothing follows a schema. */
  readonly hasSchema: boolean;
}
