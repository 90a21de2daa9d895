// A vocabulary as a tree of bytes, and what parts of it a machine allows.

import type { Machine, Mask, Position } from "./machine.ts";

/** Nodes in depth-first order. */
interface Tree {
  readonly bytes: Uint8Array;
  readonly depths: Uint16Array;
  /** By node: the first node that isn't below it. */
  readonly ends: Uint32Array;
  /** By node: the most characters of a token at it or below. */
  readonly longest: Uint16Array;
  /** Tokens of node i: from firsts[i] to firsts[i + 1] in ids. */
  readonly firsts: Uint32Array;
  readonly ids: Uint32Array;
  /** The number of characters of each of ids, if it can be a part of a JSON string; else 0. */
  readonly characters: Uint16Array;
  readonly mostCharacters: number;
}

/** Nodes that are visited in one go. */
const NODES_AT_ONCE = 50;

export class TokenTrie {
  readonly vocabSize: number;
  readonly #tokens: readonly string[];
  /** The tokens that may be parts of JSON strings. */
  readonly #texts: Tree;
  readonly #others: Tree;
  /** By number of characters: the tokens that are parts of JSON strings of at most that length. */
  readonly #textMasks = new Map<number, Uint32Array>();

  /** @param tokens their bytes, a character for each; "" for tokens without text */
  constructor(tokens: readonly string[], vocabSize: number) {
    this.vocabSize = vocabSize;
    // No text has bytes beyond those of UTF-8, which stand for the tokens that a grammar names.
    this.#tokens = tokens.slice(0, vocabSize).map((bytes) => (/[\xf8-\xff]/.test(bytes) ? "" : bytes));
    const all = this.#tokens.map((bytes, id) => ({ id, bytes, characters: charactersOf(bytes) }));
    const sorted = all.filter(({ bytes }) => bytes !== "").toSorted((a, b) => (a.bytes < b.bytes ? -1 : 1));
    this.#texts = treeOf(sorted.filter(({ characters }) => characters > 0));
    this.#others = treeOf(sorted.filter(({ characters }) => characters === 0));
  }

  /** Returns a token's bytes, a character for each; "" for one without text. */
  bytesOf(id: number): string {
    return this.#tokens[id] ?? "";
  }

  /** Fills a mask: bit (id & 31) of word (id >>> 5). Yields while there is more to do. @throws TooMuchWork */
  *fill(mask: Uint32Array, machine: Machine, position: Position): Generator<void, void> {
    if (position.mask === null) machine.keepMask(position, yield* this.#maskAt(machine, position));
    const { base, others } = position.mask ?? { base: null, others: new Uint32Array() };
    if (base === null) mask.fill(0);
    else mask.set(base);
    for (let i = 0; i < others.length; i += 2)
      mask[others[i] ?? 0] = (mask[others[i] ?? 0] ?? 0) ^ (others[i + 1] ?? 0);
  }

  *#maskAt(machine: Machine, position: Position): Generator<void, Mask> {
    const { characters, isAll } = machine.textAhead(position);
    const { ids, mostCharacters } = this.#texts;
    const isText = characters > 0 && (isAll || characters >= mostCharacters);
    const texts = isText ? [] : yield* walk(this.#texts, machine, position);
    const others = yield* walk(this.#others, machine, position);
    const isMost = 2 * texts.reduce((sum, at, i) => sum + (i % 2 === 0 ? -at : at), 0) > ids.length;
    const differing = new Uint32Array(Math.ceil(this.vocabSize / 32));
    toggle(differing, ids, isMost ? [0, ...texts, ids.length] : texts);
    toggle(differing, this.#others.ids, others);
    const words: number[] = [];
    differing.forEach((bits, word) => bits !== 0 && words.push(word, bits));
    const base =
      isText || isMost ? this.#textsUpTo(isText ? Math.min(characters, mostCharacters) : mostCharacters) : null;
    return { base, others: Uint32Array.from(words) };
  }

  #textsUpTo(length: number): Uint32Array {
    const known = this.#textMasks.get(length);
    if (known !== undefined) return known;
    const mask = new Uint32Array(Math.ceil(this.vocabSize / 32));
    const { ids, characters } = this.#texts;
    ids.forEach((_, i) => (characters[i] ?? 0) <= length && toggle(mask, ids, [i, i + 1]));
    this.#textMasks.set(length, mask);
    return mask;
  }
}

/** Returns which ids may come at a position, in the tree's order: where they begin and end, in turn. */
function* walk(tree: Tree, machine: Machine, start: Position): Generator<void, number[]> {
  const { bytes, depths, ends, longest, firsts } = tree;
  const ranges: number[] = [];
  /** Positions by depth. */
  const path: Position[] = [start];
  let numVisited = 0;
  for (let node = 0; node < bytes.length;) {
    if (++numVisited % NODES_AT_ONCE === 0) yield;
    const depth = depths[node] ?? 0;
    const position = machine.next(path[depth] ?? start, bytes[node] ?? 0);
    const end = ends[node] ?? bytes.length;
    if (position === null) {
      node = end;
      continue;
    }
    path[depth + 1] = position;
    // Where any text may come, all tokens below may.
    const most = longest[node] ?? 0;
    const isFree = most > 0 && (position.characters ??= machine.textAhead(position).characters) >= most;
    const next = isFree ? end : node + 1;
    const [from = 0, to = 0] = [firsts[node], firsts[next]];
    if (from < to && ranges.at(-1) === from) ranges[ranges.length - 1] = to;
    else if (from < to) ranges.push(from, to);
    node = next;
  }
  return ranges;
}

/** @param ranges as walk returns them */
function toggle(mask: Uint32Array, ids: Uint32Array, ranges: readonly number[]): void {
  for (let i = 0; i < ranges.length; i += 2) {
    for (let at = ranges[i] ?? 0; at < (ranges[i + 1] ?? 0); at++) {
      const id = ids[at] ?? 0;
      mask[id >>> 5] = (mask[id >>> 5] ?? 0) ^ (1 << (id & 31));
    }
  }
}

/** @param tokens in the order of their bytes */
function treeOf(tokens: readonly { readonly id: number; readonly bytes: string; readonly characters: number }[]): Tree {
  const bytes: number[] = [];
  const depths: number[] = [];
  const ends: number[] = [];
  const longest: number[] = [];
  const firsts: number[] = [];
  /** Nodes from the root to the last one. */
  const path: number[] = [];
  let before = "";
  tokens.forEach((token, number) => {
    let common = 0;
    while (common < before.length && before[common] === token.bytes[common]) common += 1;
    for (const node of path.splice(common)) ends[node] = bytes.length;
    for (let depth = common; depth < token.bytes.length; depth++) {
      path.push(bytes.push(token.bytes.charCodeAt(depth)) - 1);
      depths.push(depth);
      firsts.push(number);
    }
    for (const node of path) longest[node] = Math.max(longest[node] ?? 0, token.characters);
    before = token.bytes;
  });
  for (const node of path) ends[node] = bytes.length;
  firsts.push(tokens.length);
  return {
    bytes: Uint8Array.from(bytes),
    depths: Uint16Array.from(depths),
    ends: Uint32Array.from(ends),
    longest: Uint16Array.from(longest),
    firsts: Uint32Array.from(firsts),
    ids: Uint32Array.from(tokens, ({ id }) => id),
    characters: Uint16Array.from(tokens, ({ characters }) => characters),
    mostCharacters: tokens.reduce((most, { characters }) => Math.max(most, characters), 0),
  };
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Returns the number of characters of what can be a part of a JSON string, without escapes and halves of characters; else 0. */
function charactersOf(bytes: string): number {
  // eslint-disable-next-line no-control-regex
  if (/[\0-\x1f"\\]/.test(bytes)) return 0;
  try {
    return Array.from(UTF8.decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)))).length;
  } catch {
    return 0;
  }
}
