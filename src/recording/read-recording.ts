import { parseJson } from "../protocol/bounded-data.ts";
import { ChorusError } from "../protocol/errors.ts";
import { checkConfig, checkEvent, checkModel, wrongLine } from "./check-recording.ts";
import { isObject } from "../protocol/json-object.ts";
import { FORMAT, type Recording } from "./recording-format.ts";

/**
 * Reads a recording.
 * @throws ChorusError invalid_type; invalid_value, whose `param` names the line ("line 3") and the message also the
 *   field
 */
export function readRecording(text: string): Recording {
  if (typeof text !== "string") throw new ChorusError("invalid_type", "A recording must be a string.");
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const [header, ...events] = lines.map(parseLine);
  if (header?.["type"] !== "header") throw wrongLine(0, "is not the header of a recording");
  const { version } = header;
  if (version !== FORMAT) {
    throw wrongLine(0, `is of version ${JSON.stringify(version)}; this build of Chorus reads version ${FORMAT}`);
  }
  return {
    version,
    model: checkModel(header["model"]),
    config: checkConfig(header["config"]),
    events: events.map((event, i) => checkEvent(event, i + 1)),
  };
}

function parseLine(line: string, index: number): Record<string, unknown> {
  try {
    const value: unknown = parseJson(line);
    if (isObject(value)) return value;
  } catch {
    // refused below
  }
  throw wrongLine(index, "is not a JSON object");
}
