// Formats of the standard that a regular expression describes exactly.

import type { SchemaNode } from "./schema-node.ts";

const LEAP_YEAR = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
const OTHER_DAYS =
  "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])";
const DATE = `(?:[0-9]{4}-(?:${OTHER_DAYS})|${LEAP_YEAR}-02-29)`;
const HOUR = "(?:[01][0-9]|2[0-3])";
const secondsIn = (zone: string) => `(?:\\.[0-9]+)?(?:[Zz]|[+-]${zone})`;
/** Leap seconds end a day of UTC, and are written so. */
const TIME = `(?:${HOUR}:[0-5][0-9]:[0-5][0-9]${secondsIn(`${HOUR}:[0-5][0-9]`)}|23:59:60${secondsIn("00:00")})`;

const BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])";
const IPV4 = `(?:${BYTE}\\.){3}${BYTE}`;
const WORD = "[0-9A-Fa-f]{1,4}";
const LAST_WORDS = `(?:${WORD}:${WORD}|${IPV4})`;
const wordsUpTo = (count: number) => (count === 0 ? "" : `(?:(?:${WORD}:){0,${count - 1}}${WORD})?`);
const SHORTENED = [0, 1, 2, 3, 4, 5].map((count) => `${wordsUpTo(count)}::(?:${WORD}:){${5 - count}}${LAST_WORDS}`);
const IPV6 = `(?:(?:${WORD}:){6}${LAST_WORDS}|${SHORTENED.join("|")}|${wordsUpTo(6)}::${WORD}|${wordsUpTo(7)}::)`;

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
const PLANES = Array.from("123456789abcd", (plane) => `\\u{${plane}0000}-\\u{${plane}fffd}`).join("");
const UNICODE = `\\u00a0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef${PLANES}\\u{e1000}-\\u{efffd}`;
const URI = addresses("", "");
const IRI = addresses(UNICODE, PRIVATE);
const LETTER = `(?:[A-Za-z0-9_]|${ESCAPED})`;
const VARIABLE = `${LETTER}(?:\\.?${LETTER})*(?::[1-9][0-9]{0,3}|\\*)?`;
const OUTSIDE = `[!#$&-;=?-\\[\\]_a-z~${UNICODE}${PRIVATE}]|${ESCAPED}`;
const URI_TEMPLATE = `(?:${OUTSIDE}|\\{[+#./;?&=,!@|]?${VARIABLE}(?:,${VARIABLE})*\\})*`;

const HOURS = "(?:[0-9]+H(?:[0-9]+M(?:[0-9]+S)?)?|[0-9]+M(?:[0-9]+S)?|[0-9]+S)";
const DAYS = "(?:[0-9]+Y(?:[0-9]+M(?:[0-9]+D)?)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)";
const DURATION = `P(?:${DAYS}(?:T${HOURS})?|T${HOURS}|[0-9]+W)`;
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

/** Returns undefined for a format that says nothing here, as it is none of the standard. @throws NotHeld */
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
