import { ChorusError } from "../protocol/errors.ts";
import { ANY_CHARACTER } from "./char-set.ts";
import { character, IMPOSSIBLE, repeat, type Expression } from "./expression.ts";
import { jsonString } from "./json-text.ts";
import { parsePattern } from "./regex.ts";
import type { SchemaNode } from "./schema-node.ts";

const MAX_LENGTH = 10_000;

/** Patterns of the formats that a pattern can describe exactly. */
const FORMATS: Readonly<Record<string, string>> = {
  date: "^[0-9]{4}-(((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01]))|((0[469]|11)-(0[1-9]|[12][0-9]|30))|(02-(0[1-9]|1[0-9]|2[0-8])))$",
  time: "^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$",
  uuid: "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$",
  ipv4: "^((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])\\.){3}(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])$",
  email: "^[a-z0-9]([a-z0-9_+-]{0,30}[a-z0-9])?(\\.[a-z0-9]{1,30}){0,3}@([a-z0-9]{1,30}\\.){1,3}[a-z]{2,10}$",
};
const DATE_TIME = { of: "date-time", date: FORMATS["date"] ?? "", time: FORMATS["time"] ?? "" };

export function stringOf(node: SchemaNode): Expression {
  const min = node.count("minLength", MAX_LENGTH);
  const max = node.count("maxLength", MAX_LENGTH);
  const content = node.has("format") ? formatOf(node) : node.has("pattern") ? patternOf(node) : undefined;
  if (content === undefined) {
    if (min !== undefined && max !== undefined && min > max) return IMPOSSIBLE;
    return jsonString(repeat(character(ANY_CHARACTER), min ?? 0, max ?? Infinity));
  }
  const beside = ["minLength", "maxLength", "pattern"].find(
    (keyword) => node.has(keyword) && !(keyword === "pattern" && !node.has("format")),
  );
  if (beside === undefined) return jsonString(content);
  throw node.unsupported(
    beside,
    `it stands beside ${node.has("format") ? "format" : "pattern"}; leave one of them out`,
  );
}

function patternOf(node: SchemaNode): Expression {
  const pattern = node.get("pattern");
  if (typeof pattern !== "string") throw node.at("pattern").invalid("a regular expression");
  return parsePattern(pattern, `${node.path}.pattern`);
}

function formatOf(node: SchemaNode): Expression {
  const format = node.get("format");
  const pattern =
    format === DATE_TIME.of
      ? `${DATE_TIME.date.slice(0, -1)}T${DATE_TIME.time.slice(1)}`
      : typeof format === "string" && Object.hasOwn(FORMATS, format)
        ? FORMATS[format]
        : undefined;
  if (pattern !== undefined) return parsePattern(pattern, `${node.path}.format`);
  const path = `${node.path}.format`;
  const known = [...Object.keys(FORMATS), DATE_TIME.of].join(", ");
  throw new ChorusError("unsupported_parameter", `${path} is not supported: the supported formats are ${known}.`, path);
}
