// A model's folder, wherever it is: stored by this browser, on a server, or given by the user.

import { byteSize } from "../protocol/byte-size.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { Checkpoint } from "./checkpoint.ts";
import { chooseGguf } from "./gguf/gguf-names.ts";
import { invalidFile } from "./json-fields.ts";
import { foreignWeights, parseJsonFile } from "./model-folder.ts";
import { looksLikeWebPage } from "./web-page.ts";

/** Size limit of files read into memory: configs, vocabularies, templates. (GPT-2's tokenizer.json is 2 MB.) */
export const MAX_SMALL_FILE_BYTES = 64 * 2 ** 20;

/** Called as bytes of a file arrive. `totalBytes` is null if the server does not give the file's length. */
export type OnBytes = (file: string, doneBytes: number, totalBytes: number | null) => void;

/** The file does not exist. The sentence says where it was expected. */
export interface Missing {
  readonly missing: string;
}

/** A file that is read in parts. A Blob is one. */
export interface ReadableFile {
  /** Null while it arrives: servers send the compressed size, or none. */
  readonly size: number | null;
  slice(begin: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/** A file that is being downloaded: a part can be read as soon as it has arrived. */
export interface IncomingFile extends ReadableFile {
  /** Resolves to the file once it is complete. @throws ChorusError model_download_failed; the abort's reason */
  whole(): Promise<Blob>;
}

/** A small file from a server is opened as bytes: reading a Blob would wait for the browser. */
type Opened = Blob | Uint8Array<ArrayBuffer> | IncomingFile;
type OpenFile = (file: string) => Promise<Opened | Missing>;

export class ModelFiles {
  readonly name: string;
  /** The folder's description in error messages. */
  readonly where: string;
  /** The GGUF file that has the weights; null if they are in safetensors. */
  readonly gguf: string | null;
  readonly #open: OpenFile;

  constructor(name: string, where: string, open: OpenFile, gguf: string | null = null) {
    this.name = name;
    this.where = where;
    this.gguf = gguf;
    this.#open = open;
  }

  /** Opens the weights, if they are not in safetensors; else returns null. */
  openOwnCheckpoint(): Promise<Checkpoint> | null {
    return null;
  }

  /** Opens a file of any size, to be read in pieces. @throws ChorusError model_not_found; the folder's own errors */
  async open(file: string): Promise<Blob> {
    return wholeOf(await this.#there(file));
  }

  /** Like `open`, but returns undefined if the file does not exist. */
  async tryOpen(file: string): Promise<Blob | undefined> {
    const opened = await this.#open(file);
    return "missing" in opened ? undefined : wholeOf(opened);
  }

  /** Like `tryOpen`, but a file on a server may still be arriving: reads wait for their bytes. */
  async tryOpenEarly(file: string): Promise<Blob | IncomingFile | undefined> {
    const opened = await this.#open(file);
    if ("missing" in opened) return undefined;
    return "whole" in opened ? opened : wholeOf(opened);
  }

  /** @throws ChorusError as open does; model_invalid if the file is not JSON */
  async readJson(file: string): Promise<unknown> {
    return parseJsonFile(file, this.where, await bytesOf(file, await this.#there(file)));
  }

  /** Returns undefined if the file does not exist. @throws ChorusError model_invalid if it is a web page */
  async tryReadText(file: string): Promise<string | undefined> {
    const opened = await this.#open(file);
    if ("missing" in opened) return undefined;
    const bytes = await bytesOf(file, opened);
    if (looksLikeWebPage(bytes)) throw invalidFile(file, `${file} in ${this.where} looks like a web page.`);
    return new TextDecoder().decode(bytes);
  }

  /** Returns undefined if the file does not exist. */
  async tryReadJson(file: string): Promise<unknown> {
    const opened = await this.#open(file);
    return "missing" in opened ? undefined : parseJsonFile(file, this.where, await bytesOf(file, opened));
  }

  async #there(file: string): Promise<Opened> {
    const opened = await this.#open(file);
    if ("missing" in opened) throw new ChorusError("model_not_found", opened.missing, file);
    return opened;
  }
}

/** Returns a file once it is complete. @throws ChorusError model_download_failed, model_access_denied */
async function wholeOf(file: Opened): Promise<Blob> {
  if ("whole" in file) return file.whole();
  return file instanceof Uint8Array ? new Blob([file]) : file;
}

/** Reads a small file into memory. */
async function bytesOf(file: string, opened: Opened): Promise<Uint8Array> {
  if (opened instanceof Uint8Array) return opened;
  const blob = await wholeOf(opened);
  if (blob.size > MAX_SMALL_FILE_BYTES) throw tooLarge(file, blob.size);
  try {
    return new Uint8Array(await blob.arrayBuffer());
  } catch (cause) {
    const message = `${file} could not be read from disk: ${String(cause)}`;
    throw new ChorusError("model_download_failed", message, file, { cause });
  }
}

/** Reads bytes [begin, end) of a weights file, or fewer if it ends before. @throws ChorusError model_download_failed */
export async function readPart(
  file: ReadableFile,
  name: string,
  begin: number,
  end: number,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    return new Uint8Array(await file.slice(begin, end).arrayBuffer());
  } catch (cause) {
    if (cause instanceof ChorusError) throw cause;
    throw new ChorusError("model_download_failed", `${name} could not be read: ${String(cause)}`, name, { cause });
  }
}

/** Reads all of bytes [begin, end). @throws ChorusError model_download_failed, also if the file ends before */
export async function readWholePart(...[file, name, begin, end]: Parameters<typeof readPart>) {
  const bytes = await readPart(file, name, begin, end);
  if (bytes.length === end - begin) return bytes;
  throw new ChorusError("model_download_failed", `${name} ends before its last tensor: download it again.`, name);
}

export function tooLarge(file: string, bytes: number): ChorusError {
  return invalidFile(file, `${file} has ${byteSize(bytes)} or more; the limit is ${byteSize(MAX_SMALL_FILE_BYTES)}.`);
}

/** Opens files that the user chose, or a folder's. If several have the same name, the one nearest the top folder is used. */
export function openFileList(files: readonly File[], onBytes?: OnBytes): ModelFiles {
  const paths = files
    .map((file) => ({ file, path: (file.webkitRelativePath || file.name).split("/") }))
    .sort((a, b) => a.path.length - b.path.length);
  const name = paths.find(({ path }) => path.length > 1)?.path.at(-2) ?? "model";
  const sizes = new Map(paths.map(({ file, path }) => [path.at(-1) ?? file.name, file] as const));
  const folder = paths[0]?.path.slice(0, -1).join("/") ?? "";
  const where =
    folder !== "" ? `the folder ${folder}` : files.length === 1 ? "the file you chose" : "the files you chose";
  const gguf = chooseGguf(sizes, null, where);
  const foreign = foreignWeights(files.map((file) => file.name));
  const more = foreign === null ? "." : `: ${foreign}`;
  const open: OpenFile = (fileName) => {
    const file = paths.find(({ path }) => path.at(-1) === fileName)?.file;
    if (file) onBytes?.(fileName, file.size, file.size);
    return Promise.resolve(file ?? { missing: `There is no ${fileName} in ${where}${more}` });
  };
  return new ModelFiles(name, where, open, gguf);
}
