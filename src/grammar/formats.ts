// Formats of the standard that a regular expression describes exactly.

const DATE = (() => {
  const leapYear = "(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)";
  const others =
    "(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8])";
  return `(?:[0-9]{4}-(?:${others})|${leapYear}-02-29)`;
})();
const TIME = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])";

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
const CHARACTER = `(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|${ESCAPED})`;
const PATH = `(?:/${CHARACTER}*)*`;
const AUTHORITY = `(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|${ESCAPED})*@)?(?:\\[${IPV6}\\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|${ESCAPED})*)(?::[0-9]*)?`;
const REST = `(?:\\?(?:${CHARACTER}|[/?])*)?(?:#(?:${CHARACTER}|[/?])*)?`;
const ABSOLUTE = `//${AUTHORITY}${PATH}|/(?:${CHARACTER}+${PATH})?`;
const URI = `[A-Za-z][A-Za-z0-9+.-]*:(?:${ABSOLUTE}|${CHARACTER}+${PATH}|)${REST}`;
const RELATIVE = `(?:${ABSOLUTE}|(?:[A-Za-z0-9._~!$&'()*+,;=@-]|${ESCAPED})+${PATH}|)${REST}`;

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
  uri: URI,
  "uri-reference": `(?:${URI}|${RELATIVE})`,
  "json-pointer": POINTER,
  "relative-json-pointer": `(?:0|[1-9][0-9]*)(?:#|${POINTER})`,
};

/** Returns the pattern of a format; undefined for one that says nothing here: unknown ones, and those that aren't regular. */
export function formatPattern(format: unknown): string | undefined {
  if (typeof format !== "string" || !Object.hasOwn(FORMATS, format)) return undefined;
  return `^(?:${FORMATS[format]})$`;
}

/** Returns the most characters of a format's texts: those that its pattern does not bound. */
export function formatLength(format: unknown): number {
  return format === "hostname" ? 253 : Infinity;
}
