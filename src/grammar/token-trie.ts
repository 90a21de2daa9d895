// A vocabulary as a tree of bytes, and what parts of it a machine allows.

import type { Machine, Position } from "./machine.ts";

/** Nodes in depth-first order. */
interface Tree {
  readonly bytes: Uint8Array;
  readonly depths: Uint16Array;
  /** By node: the first node that isn't below it. */
  readonly ends: Uint32Array;
  /** Tokens of node i: from firsts[i] to firsts[i + 1] in ids. */
  readonly firsts: Uint32Array;
  readonly ids: readonly number[];
}

interface Token {
  readonly id: number;
  readonly bytes: Uint8Array;
  /** Its number of characters, if it could be a part of a JSON string, without escapes and halves of characters; else 0. */
  readonly characters: number;
}

export class TokenTrie {
  readonly vocabSize: number;
  readonly #byId: ReadonlyMap<number, Token>;
  /** The tokens that may be parts of JSON strings. */
  readonly #texts: Tree;
  readonly #others: Tree;
  readonly #longest: number;
  /** By number of characters: the tokens that are parts of JSON strings of at most that length. */
  readonly #textMasks = new Map<number, Uint32Array>();

  /** @param tokens their bytes, a character for each; "" for tokens without text */
  constructor(tokens: readonly string[], vocabSize: number) {
    this.vocabSize = vocabSize;
    const all = Array.from({ length: vocabSize }, (_, id) => {
      const bytes = Uint8Array.from(tokens[id] ?? "", (character) => character.charCodeAt(0));
      return { id, bytes, characters: charactersOf(bytes) };
    }).filter(({ bytes }) => bytes.length > 0);
    this.#byId = new Map(all.map((token) => [token.id, token]));
    const sorted = all.toSorted((a, b) => compare(a.bytes, b.bytes));
    this.#texts = treeOf(sorted.filter(({ characters }) => characters > 0));
    this.#others = treeOf(sorted.filter(({ characters }) => characters === 0));
    this.#longest = all.reduce((most, { characters }) => Math.max(most, characters), 0);
  }

  /** Returns a token's bytes; undefined for one without text. */
  bytesOf(id: number): Uint8Array | undefined {
    return this.#byId.get(id)?.bytes;
  }

  /** Returns the tokens that may come at a position, and keeps them for a while: bit (id & 31) of word (id >>> 5). */
  mask(machine: Machine, position: Position): Uint32Array {
    if (position.mask !== null) return position.mask;
    const { characters, isAll } = machine.textAhead(position);
    const isText = characters > 0 && (isAll || characters >= this.#longest);
    const isFree = (at: Position) => (at.isFree ??= machine.textAhead(at).characters >= this.#longest);
    const mask = isText
      ? this.#textsUpTo(Math.min(characters, this.#longest)).slice()
      : new Uint32Array(Math.ceil(this.vocabSize / 32));
    if (!isText) walk(this.#texts, machine, position, mask, isFree);
    walk(this.#others, machine, position, mask, () => false);
    machine.keepMask(position, mask);
    return mask;
  }

  #textsUpTo(length: number): Uint32Array {
    const known = this.#textMasks.get(length);
    if (known !== undefined) return known;
    const mask = new Uint32Array(Math.ceil(this.vocabSize / 32));
    for (const { id, characters } of this.#byId.values()) if (characters > 0 && characters <= length) allow(mask, id);
    this.#textMasks.set(length, mask);
    return mask;
  }
}

/** @param isFree whether all further tokens of the tree are allowed at a position */
function walk(
  tree: Tree,
  machine: Machine,
  start: Position,
  mask: Uint32Array,
  isFree: (position: Position) => boolean,
): void {
  const { bytes, depths, ends, firsts, ids } = tree;
  /** Positions by depth. */
  const path: Position[] = [start];
  for (let node = 0; node < bytes.length;) {
    const depth = depths[node] ?? 0;
    const position = machine.next(path[depth] ?? start, bytes[node] ?? 0);
    if (position === null) {
      node = ends[node] ?? bytes.length;
      continue;
    }
    path[depth + 1] = position;
    const next = isFree(position) ? (ends[node] ?? bytes.length) : node + 1;
    const last = firsts[next] ?? 0;
    for (let i = firsts[node] ?? 0; i < last; i++) allow(mask, ids[i] ?? 0);
    node = next;
  }
}

function allow(mask: Uint32Array, id: number): void {
  mask[id >>> 5] = (mask[id >>> 5] ?? 0) | (1 << (id & 31));
}

/** @param tokens in the order of their bytes */
function treeOf(tokens: readonly Token[]): Tree {
  const bytes: number[] = [];
  const depths: number[] = [];
  const ends: number[] = [];
  const firsts: number[] = [];
  const ids: number[] = [];
  /** Nodes from the root to the last one. */
  const path: number[] = [];
  let before: Uint8Array = new Uint8Array();
  for (const token of tokens) {
    let common = 0;
    while (common < before.length && before[common] === token.bytes[common]) common += 1;
    for (const node of path.splice(common)) ends[node] = bytes.length;
    for (let depth = common; depth < token.bytes.length; depth++) {
      path.push(bytes.push(token.bytes[depth] ?? 0) - 1);
      depths.push(depth);
      firsts.push(ids.length);
    }
    ids.push(token.id);
    before = token.bytes;
  }
  for (const node of path) ends[node] = bytes.length;
  firsts.push(ids.length);
  return {
    bytes: Uint8Array.from(bytes),
    depths: Uint16Array.from(depths),
    ends: Uint32Array.from(ends),
    firsts: Uint32Array.from(firsts),
    ids,
  };
}

function compare(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return (a[i] ?? 0) - (b[i] ?? 0);
  return a.length - b.length;
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function charactersOf(bytes: Uint8Array): number {
  if (bytes.some((byte) => byte < 0x20 || byte === 0x22 || byte === 0x5c)) return 0;
  try {
    return Array.from(UTF8.decode(bytes)).length;
  } catch {
    return 0;
  }
}
