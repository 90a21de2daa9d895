// A model's folder, wherever it is: on a server, or dropped on the page.

import type { ModelSource } from "../protocol/config.ts";
import { ChorusError } from "../protocol/errors.ts";
import { download, type Missing } from "./download.ts";

/** Called as bytes of a file arrive. `totalBytes` is null where the server does not say how many there will be. */
export type OnBytes = (file: string, doneBytes: number, totalBytes: number | null) => void;

export interface ModelFilesOptions {
  readonly fetch?: typeof fetch;
  readonly onBytes?: OnBytes;
  /** What a relative URL is relative to. [the location of this page or worker] */
  readonly baseUrl?: string;
}

type ReadBytes = (file: string) => Promise<Uint8Array<ArrayBuffer> | Missing>;

export class ModelFiles {
  /** The folder's name. */
  readonly name: string;
  /** The folder as errors call it. */
  readonly #where: string;
  readonly #readBytes: ReadBytes;

  constructor(name: string, where: string, readBytes: ReadBytes) {
    this.name = name;
    this.#where = where;
    this.#readBytes = readBytes;
  }

  /** @throws ChorusError model_not_found, model_download_failed */
  async read(file: string): Promise<Uint8Array<ArrayBuffer>> {
    const bytes = await this.#readBytes(file);
    if ("missing" in bytes) throw new ChorusError("model_not_found", bytes.missing, "model");
    return bytes;
  }

  /** @throws ChorusError as read does; model_invalid where it is no JSON. */
  async readJson(file: string): Promise<unknown> {
    return this.#parseJson(file, await this.read(file));
  }

  /** undefined where there is no such file. */
  async tryReadText(file: string): Promise<string | undefined> {
    const bytes = await this.#readBytes(file);
    return "missing" in bytes ? undefined : new TextDecoder().decode(bytes);
  }

  /** undefined where there is no such file. */
  async tryReadJson(file: string): Promise<unknown> {
    const bytes = await this.#readBytes(file);
    return "missing" in bytes ? undefined : this.#parseJson(file, bytes);
  }

  #parseJson(file: string, bytes: Uint8Array): unknown {
    const text = new TextDecoder().decode(bytes);
    try {
      return JSON.parse(text);
    } catch (cause) {
      const reason = text.trimStart().startsWith("<") ? "it looks like a web page" : (cause as Error).message;
      throw new ChorusError("model_invalid", `${file} in ${this.#where} is not JSON: ${reason}`, "model", { cause });
    }
  }
}

/** Nothing is read yet, so a folder that is not there shows with the first file. */
export function openModelFiles(source: ModelSource, options: ModelFilesOptions = {}): ModelFiles {
  return typeof source === "string" ? openUrl(source, options) : openFileList(source, options.onBytes);
}

function openUrl(source: string, options: ModelFilesOptions): ModelFiles {
  const baseUrl = options.baseUrl ?? globalThis.location?.href;
  if (source === "" || !URL.canParse(source, baseUrl)) {
    throw new ChorusError(
      "invalid_value",
      `model must be the URL of a folder, or its files; ${JSON.stringify(source)} is no URL here.`,
      "model",
    );
  }
  const folder = new URL(source, baseUrl);
  if (!folder.pathname.endsWith("/")) folder.pathname += "/";
  const name = folder.pathname.split("/").at(-2) || folder.hostname;
  return new ModelFiles(name, folder.href, async (file) => {
    const url = new URL(file, folder);
    url.search = folder.search;
    return download(url.href, options.fetch ?? globalThis.fetch, (done, total) => options.onBytes?.(file, done, total));
  });
}

/** Of files of the same name, the one least deep in folders counts. */
function openFileList(files: readonly File[], onBytes: OnBytes | undefined): ModelFiles {
  const paths = files
    .map((file) => ({ file, path: (file.webkitRelativePath || file.name).split("/") }))
    .sort((a, b) => a.path.length - b.path.length);
  const name = paths.find(({ path }) => path.length > 1)?.path.at(-2) ?? "model";
  return new ModelFiles(name, "the files given", async (wanted) => {
    const file = paths.find(({ path }) => path.at(-1) === wanted)?.file;
    if (file === undefined) return { missing: `There is no ${wanted} among the ${files.length} files given.` };
    try {
      const bytes = new Uint8Array(await file.arrayBuffer());
      onBytes?.(wanted, bytes.length, bytes.length);
      return bytes;
    } catch (cause) {
      throw new ChorusError(
        "model_download_failed",
        `${wanted} could not be read from disk: ${String(cause)}`,
        "model",
        { cause },
      );
    }
  });
}
