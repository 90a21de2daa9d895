import type { Sign } from "../../grammar/spelling.ts";
import type { CallFormat } from "./call-format.ts";

/** Stand in texts for tokens that mark calls: no text of a model has them. */
const FIRST_SIGN = 0xfdd0;
/** Words that may be one token each. */
const MARKER = /<[^<>\s=]+>|\[[A-Z_]+\]/g;

/** A format in whose texts signs stand for the markers that are tokens. */
export interface MarkedFormat extends CallFormat {
  /** Without signs. */
  readonly plain: CallFormat;
  readonly tokens: readonly Sign[];
  /** The text, or the sign, with which calls begin. */
  readonly beginning: string;
}

/** @param tokenOf returns the id of a token that has this text, and that no text becomes; null if there is none */
export function markedFormat(format: CallFormat, tokenOf: (text: string) => number | null): MarkedFormat {
  const { open, head, mid, tail, close, spelling } = format;
  const texts = [open, head, mid, tail, close, spelling?.mark ?? ""];
  const markers = new Set(texts.flatMap((text) => text.match(MARKER) ?? []));
  const known = [...markers].flatMap((text, i) => {
    const id = tokenOf(text);
    return id === null ? [] : [{ text, id, sign: String.fromCharCode(FIRST_SIGN + i) }];
  });
  const marked = (text: string) => known.reduce((all, { text: marker, sign }) => all.replaceAll(marker, sign), text);
  const begins = open || head;
  return {
    ...format,
    plain: format,
    open: marked(open),
    head: marked(head),
    mid: marked(mid),
    tail: marked(tail),
    close: marked(close),
    ...(spelling && {
      spelling: { ...spelling, mark: spelling.mark && marked(spelling.mark), end: marked(spelling.end) },
    }),
    tokens: known.map(({ id, sign }) => [id, sign]),
    beginning: marked(begins.match(MARKER)?.[0] ?? begins),
  };
}
