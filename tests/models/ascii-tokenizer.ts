// A byte-level BPE tokenizer of any size, whose every token is ASCII text.

const LETTERS = Array.from("abcdefghijklmnopqrstuvwxyz");
/** The byte-level alphabet's space. */
const SPACE = "\u0120";

/** tokenizer.json: a token for each ASCII byte, then a space with a letter, pairs of letters, and pairs of pairs. */
export function asciiTokenizer(vocabSize: number): unknown {
  const bytes = Array.from({ length: 127 }, (_, byte) => String.fromCharCode(byte > 0x20 ? byte : 256 + byte));
  const numMerges = vocabSize - bytes.length - 1;
  const pairs = LETTERS.flatMap((first) => LETTERS.map((second) => [first, second] as const));
  const merges: (readonly [string, string])[] = [...LETTERS.map((letter) => [SPACE, letter] as const), ...pairs];
  for (const first of pairs) {
    if (merges.length >= numMerges) break;
    merges.push(...pairs.map((second) => [first.join(""), second.join("")] as const));
  }
  merges.length = numMerges;
  const eos = { id: vocabSize - 1, content: "<|endoftext|>", special: true };
  const tokens = [...bytes, ...merges.map((merge) => merge.join("")), eos.content];
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true };
  return {
    version: "1.0",
    added_tokens: [{ ...eos, single_word: false, lstrip: false, rstrip: false, normalized: false }],
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: null,
    decoder: byteLevel,
    model: {
      type: "BPE",
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: merges.map((merge) => merge.join(" ")),
    },
  };
}
