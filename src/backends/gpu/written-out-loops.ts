/** A loop as `withProvableLoops` leaves it: its counter, from a literal to a constant; a value made of it; when it breaks. */
const LOOP =
  /for \(var (\w+) = (\d+)u; \1 < ([^;]+); \1\+\+\) \{( let \w+ = [^;]+;)?(?: if \((.+)\) \{ break; \})?(?=\n)/;
const CONSTANT = /^const (\w+)(?:: \w+)? = ([^;]+);/gm;

/** As many rounds as drivers write out. */
const MAX_ROUNDS = 32;
/** Of the rounds together. A lane's registers don't hold much more, and loops over K stay. */
const MAX_LENGTH = 12_000;

/**
 * Returns WGSL with its short loops written out: their rounds, with a constant in place of the counter, on the line of the
 * loop's head, so that no other line moves. Each round asks by itself whether the loop has ended, so loops that could seem to
 * go on again are left.
 *
 * It is for GPUs in Firefox, whose compiler, naga, guards every loop against running for ever: drivers write out none of these.
 */
export function withWrittenLoops(code: string): string {
  const constants = new Map(Array.from(code.matchAll(CONSTANT), ([, name = "", value = ""]) => [name, value]));
  return writtenOut(code.replaceAll(/ *\/\/.*/g, ""), constants);
}

function writtenOut(code: string, constants: ReadonlyMap<string, string>): string {
  const found = LOOP.exec(code);
  if (!found) return code;
  const [head, counter = "", start = "", end = "", value = "", stop] = found;
  const from = found.index + head.length;
  const to = endOfBlock(code, from);
  const body = writtenOut(code.slice(from, to), constants);
  const statements = value + (stop ? ` if (!(${stop})) {${body}}` : body);
  const numRounds = valueOf(end, constants) - Number(start);
  const isShort = numRounds <= MAX_ROUNDS && numRounds * statements.length <= MAX_LENGTH;
  const stays = !stop || staysTrue(stop, counter.replace(/_round$/, ""), body);
  const jumps = /\b(break|continue)\b/.test(body.replaceAll(new RegExp(LOOP, "g"), "")); // beside those of loops in it
  const isWritten = isShort && stays && !jumps;
  const rounds = Array.from({ length: isWritten ? numRounds : 0 }, (_, i) =>
    `{ const ${counter} = ${Number(start) + i}u;${statements} }`.replaceAll(/\s+/g, " "),
  );
  const loop = isWritten ? rounds.join(" ") + body.replaceAll(/[^\n]/g, "") : `${head}${body}}`;
  return code.slice(0, found.index) + loop + writtenOut(code.slice(to + 1), constants);
}

/** Whether a loop's end, `grows >= fixed || !(grows < fixed && fixed ..)`, can't become false again, by what its body assigns. */
function staysTrue(stop: string, counter: string, body: string): boolean {
  const [, ends = "", goesOn = ""] = /^(.*?)(?:(?:^| \|\| )!\((.*)\))?$/.exec(stop) ?? [];
  const comparisons = [
    ...ends.split("||").map((part) => part.split(" >= ")),
    ...goesOn.split(/&&|\|\|/).map((part) => part.split(" < ")),
  ];
  const assigns = (operators: string) => (name: string) =>
    new RegExp(`(?<![.\\w])${name}(?:\\[[^;=]*\\]|\\.\\w+)* ?(?:${operators})`).test(body);
  const readsMemory = /\[|\b(?!min\b)\w+\(/.test(stop);
  return (
    !readsMemory &&
    comparisons.every(([left = "", right]) => {
      const [grows, fixed] = right === undefined ? ["", left] : [left, right];
      const names: string[] = fixed.match(/\b[a-z]\w*/g) ?? [];
      const onlyGrows = !/[^\w.+* ()]/.test(grows) && !(grows.match(/\w+/g) ?? []).some(assigns("[-*/%]?=(?!=)|--"));
      return onlyGrows && !names.includes(counter) && !names.some(assigns("[-+*/%]?=(?!=)|\\+\\+|--"));
    })
  );
}

/** @param from behind its opening brace */
function endOfBlock(code: string, from: number): number {
  let at = from;
  for (let depth = 1; ; at++) {
    depth += Number(code[at] === "{") - Number(code[at] === "}");
    if (depth === 0 || at === code.length) return at;
  }
}

const OPERATORS: Readonly<Record<string, readonly [rank: number, compute: (a: number, b: number) => number]>> = {
  ">=": [1, (a, b) => Number(a >= b)],
  ">": [1, (a, b) => Number(a > b)],
  "+": [2, (a, b) => a + b],
  "-": [2, (a, b) => a - b],
  "*": [3, (a, b) => a * b],
  "/": [3, (a, b) => Math.floor(a / b)],
};

/** Returns the value of a constant expression; NaN if it has more than numbers and these operators. */
function valueOf(expression: string, constants: ReadonlyMap<string, string>): number {
  const tokens = expression.match(/\w+|[<>=!&|]+|\S/g) ?? [];
  const operand = (): number => {
    const token = tokens.shift() ?? "";
    const constant = constants.get(token);
    if (constant !== undefined) return valueOf(constant, constants);
    if (token === "true" || token === "false") return Number(token === "true");
    if (token === "u32") return operand();
    if (token !== "(") return Number.parseInt(token);
    const value = above(0);
    return tokens.shift() === ")" ? value : NaN;
  };
  const above = (rank: number): number => {
    let value = operand();
    for (;;) {
      const [own, compute] = OPERATORS[tokens[0] ?? ""] ?? [0];
      if (own <= rank || !compute) return value;
      tokens.shift();
      value = compute(value, above(own));
    }
  };
  const value = above(0);
  return tokens.length === 0 ? value : NaN;
}
