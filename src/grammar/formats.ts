// Formats of the standard that a regular expression describes exactly.

import type { SchemaNode } from "./schema-node.ts";

const DATE = (() => {
  const leapYear = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
  const others =
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])";
  return `(?:[0-9]{4}-(?:${others})|${leapYear}-02-29)`;
})();
/** Leap seconds end a day of UTC, and are written so. */
const TIME = (() => {
  const end = (zone: string) => `(?:\\.[0-9]+)?(?:[Zz]|[+-]${zone})`;
  const hour = "(?:[01][0-9]|2[0-3])";
  return `(?:${hour}:[0-5][0-9]:[0-5][0-9]${end(`${hour}:[0-5][0-9]`)}|23:59:60${end("00:00")})`;
})();

const BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const IPV4 = `(?:${BYTE}\\.){3}${BYTE}`;
const IPV6 = (() => {
  const word = "[0-9A-Fa-f]{1,4}";
  const end = `(?:${word}:${word}|${IPV4})`;
  const begun = Array.from({ length: 6 }, (_, before) => {
    const first = before === 0 ? "" : `(?:(?:${word}:){0,${before - 1}}${word})?`;
    return `${first}::(?:${word}:){${5 - before}}${end}`;
  });
  const upTo = (count: number) => `(?:(?:${word}:){0,${count - 1}}${word})?`;
  return `(?:(?:${word}:){6}${end}|${begun.join("|")}|${upTo(6)}::${word}|${upTo(7)}::)`;
})();

const LABEL = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?";
const HOSTNAME = `${LABEL}(?:\\.${LABEL})*`;
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";

const ESCAPED = "%[0-9A-Fa-f]{2}";
const LITERAL = `\\[(?:${IPV6}|[vV][0-9A-Fa-f]+\\.[A-Za-z0-9._~!$&'()*+,;=:-]+)\\]`;
/** @param more characters that may stand unescaped, beside ASCII's @param inQuery further ones in a query */
function addresses(more: string, inQuery: string) {
  const letters = `A-Za-z0-9._~!$&'()*+,;=${more}`;
  const character = `(?:[${letters}:@-]|${ESCAPED})`;
  const path = `(?:/${character}*)*`;
  const authority = `(?:(?:[${letters}:-]|${ESCAPED})*@)?(?:${LITERAL}|(?:[${letters}-]|${ESCAPED})*)(?::[0-9]*)?`;
  const rest = `(?:\\?(?:${character}|[/?${inQuery}])*)?(?:#(?:${character}|[/?])*)?`;
  const rooted = `//${authority}${path}|/(?:${character}+${path})?`;
  const absolute = `[A-Za-z][A-Za-z0-9+.-]*:(?:${rooted}|${character}+${path}|)${rest}`;
  const relative = `(?:${rooted}|(?:[${letters}@-]|${ESCAPED})+${path}|)${rest}`;
  return { absolute, reference: `(?:${absolute}|${relative})` };
}
const PRIVATE = "\\ue000-\\uf8ff\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}";
const UNICODE = (() => {
  const planes = Array.from({ length: 13 }, (_, i) => (i + 1).toString(16));
  return `\\u00a0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef${planes.map((plane) => `\\u{${plane}0000}-\\u{${plane}fffd}`).join("")}\\u{e1000}-\\u{efffd}`;
})();
const URI = addresses("", "");
const IRI = addresses(UNICODE, PRIVATE);
const URI_TEMPLATE = (() => {
  const letter = `(?:[A-Za-z0-9_]|${ESCAPED})`;
  const variable = `${letter}(?:\\.?${letter})*(?::[1-9][0-9]{0,3}|\\*)?`;
  const literal = `[!#$&-;=?-\\[\\]_a-z~${UNICODE}${PRIVATE}]|${ESCAPED}`;
  return `(?:${literal}|\\{[+#./;?&=,!@|]?${variable}(?:,${variable})*\\})*`;
})();

const DURATION = (() => {
  const time = "(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
  const date = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)";
  return `P(?:${date}(?:T${time})?|T${time}|[0-9]+W)`;
})();
const POINTER = "(?:/(?:[^/~]|~[01])*)*";

const FORMATS: Readonly<Record<string, string>> = {
  date: DATE,
  time: TIME,
  "date-time": `${DATE}[Tt]${TIME}`,
  duration: DURATION,
  email: `${ATOM}(?:\\.${ATOM})*@(?:${HOSTNAME}|\\[${IPV4}\\])`,
  hostname: HOSTNAME,
  ipv4: IPV4,
  ipv6: IPV6,
  uuid: "[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}",
  uri: URI.absolute,
  "uri-reference": URI.reference,
  "uri-template": URI_TEMPLATE,
  iri: IRI.absolute,
  "iri-reference": IRI.reference,
  "json-pointer": POINTER,
  "relative-json-pointer": `(?:0|[1-9][0-9]*)(?:#|${POINTER})`,
};

/** Formats of the standard that no regular expression describes. */
const NOT_REGULAR = ["regex", "idn-email", "idn-hostname"];

/**
 * Returns the pattern of a schema's format; undefined for one that says nothing here, as it is none of the standard.
 * @throws NotHeld
 */
export function formatPattern(node: SchemaNode): string | undefined {
  const format = node.get("format");
  if (typeof format !== "string") return undefined;
  if (NOT_REGULAR.includes(format)) throw node.unsupported("format", `a grammar can't hold ${format}; leave it out`);
  return Object.hasOwn(FORMATS, format) ? `^(?:${FORMATS[format]})$` : undefined;
}

/** Returns the most characters of a format's texts: those that its pattern does not bound. */
export function formatLength(node: SchemaNode): number {
  return node.get("format") === "hostname" ? 253 : Infinity;
}
