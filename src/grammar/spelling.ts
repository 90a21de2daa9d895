// How objects are written otherwise than as JSON: with names that stand bare, and with texts between marks.

/** Texts may have signs, which stand for tokens. */
export interface Spelling {
  /** Around the object. */
  readonly brackets: readonly [open: string, close: string];
  /** Before a member's name, between its name and value, and behind it. */
  readonly member: readonly [before: string, colon: string, after: string];
  readonly comma: string;
  /** Stands around a text, which has no escapes. null: texts are JSON's */
  readonly mark: string | null;
  /** No text between marks has it. */
  readonly end: string;
  /** How true, false and null are written. */
  readonly words: readonly [string, string, string];
  /** Whether values within are written so, too; or as JSON. */
  readonly isDeep: boolean;
  /** Members that are texts between marks, though other values are JSON. */
  readonly marked: readonly string[];
}

/** What other spellings change. */
export const AS_JSON: Spelling = {
  brackets: ["{", "}"],
  member: ["", "", ""],
  comma: ", ",
  mark: null,
  end: "",
  words: ["true", "false", "null"],
  isDeep: false,
  marked: [],
};

export type Sign = readonly [tokenId: number, sign: string];
