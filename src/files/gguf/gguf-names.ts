// Names of GGUF files. "NAME-Q4_K_M.gguf" says how its weights are packed; a large one is split into "...-00001-of-00003.gguf".

import { ChorusError } from "../../protocol/errors.ts";

const PART = /^(.*)-\d{5}(-of-)(\d{5})(\.gguf)$/i;
/** A file that is said to have more is none of ours. */
const MAX_PARTS = 1000;
/** A last part may say how the quantisation was made: "-Q4_K_M-imat". */
const QUANTISATION = /(?:^|[-_./ ])((?:UD-)?(?:[IT]?Q\d\w*|MXFP4\w*|BF16|FP?16|FP?32))(?:[-.]imat(?:rix)?)?$/i;
/** GGUF files that go with a model: a projector of images, or, without a quantisation, what weights were weighed by. */
const NO_MODEL = /(?:^|\/)mmproj[^/]*$/i;
const IMATRIX = /imatrix/i;
/** What a repository's name without more stands for, where it has only GGUF files. */
const PREFERRED = ["Q4_K_M", "Q8_0"];
const LEAST_BITS = 4;
const MAX_NAMED = 20;

export function isGguf(file: string): boolean {
  return /\.gguf$/i.test(file);
}

/** Returns the names of a split file's parts, from any one's name; of another file its own. */
export function partNames(file: string): string[] {
  const [, base, of, count, ending] = PART.exec(file) ?? [];
  if (count === undefined || Number(count) === 0 || Number(count) > MAX_PARTS) return [file];
  const number = (i: number) => String(i + 1).padStart(5, "0");
  return Array.from({ length: Number(count) }, (_, i) => `${base}-${number(i)}${of}${count}${ending}`);
}

/** Returns a file's name without what says that it is a GGUF file, or a part of one. */
export function ggufBaseName(file: string): string {
  const name = file.split("/").at(-1) ?? file;
  return PART.exec(name)?.[1] ?? name.replace(/\.gguf$/i, "");
}

/** Returns how a file's weights are packed, as its name says: "Q4_K_M"; null if it doesn't. */
export function quantisationOf(file: string): string | null {
  return QUANTISATION.exec(ggufBaseName(file))?.[1]?.toUpperCase() ?? null;
}

interface Sized {
  readonly size: number;
}

interface GgufModel {
  readonly file: string;
  readonly bytes: number;
}

/** Returns those of a folder's files that are models: of a split one the first part, with the bytes of all. */
export function ggufModelsIn(files: ReadonlyMap<string, Sized>): GgufModel[] {
  const bytes = new Map<string, number>();
  for (const [file, { size }] of files) {
    // A disk of Windows would take "\\" for the end of a folder's name.
    if (!isGguf(file) || NO_MODEL.test(file) || file.includes("\\")) continue;
    if (IMATRIX.test(file) && quantisationOf(file) === null) continue;
    const first = file.replace(PART, "$1-00001$2$3$4");
    bytes.set(first, (bytes.get(first) ?? 0) + size);
  }
  return [...bytes].map(([file, sum]) => ({ file, bytes: sum }));
}

/**
 * Returns the GGUF file that is meant; null if a folder has safetensors and none is named.
 * @param requested a file, or a quantisation in any letter case; null: the preferred one
 * @throws ChorusError model_not_found, naming those that are there
 */
export function chooseGguf(files: ReadonlyMap<string, Sized>, requested: string | null, where: string): string | null {
  const names = [...files.keys()];
  if (requested === null && (names.some((name) => name.endsWith(".safetensors")) || !names.some(isGguf))) return null;
  const models = ggufModelsIn(files);
  const ofType = (type: string) =>
    models
      .filter(({ file }) => quantisationOf(file) === type.toUpperCase())
      .sort((a, b) => a.file.length - b.file.length)[0];
  const found =
    requested === null
      ? (PREFERRED.map(ofType).find((model) => model !== undefined) ?? smallest(models))
      : isGguf(requested)
        ? models.find(({ file }) => file === partNames(requested)[0])
        : ofType(requested);
  if (found) return found.file;
  const there = models.slice(0, MAX_NAMED).map(({ file }) => quantisationOf(file) ?? file);
  const wanted = requested === null ? "GGUF file of four bits or more" : `GGUF file ${requested}`;
  const message = `There is no ${wanted} in ${where}; there are: ${there.join(", ") || "none"}.`;
  throw new ChorusError("model_not_found", message, "model");
}

function smallest(models: readonly GgufModel[]): GgufModel | undefined {
  // A name that says nothing excludes nothing.
  const bitsOf = (file: string) => Number(/\d+/.exec(quantisationOf(file) ?? "")?.[0] ?? Infinity);
  const enough = models.length === 1 ? models : models.filter(({ file }) => bitsOf(file) >= LEAST_BITS);
  return enough.toSorted((a, b) => a.bytes - b.bytes)[0];
}
