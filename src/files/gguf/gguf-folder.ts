import { CONFIG_FILE, TOKENIZER_FILE } from "../model-folder.ts";
import { ModelFiles } from "../model-files.ts";
import { GgufFile } from "./gguf-file.ts";
import { ggufBaseName } from "./gguf-names.ts";
import { chatFilesOf, tokenizerFilesOf } from "./gguf-tokenizer.ts";

type Contents = Readonly<Record<string, unknown>>;

/**
 * A GGUF file as a model's folder: config.json and the tokenizer's files are made of its pairs. If there is a tokenizer.json
 * beside it, that and its companions win.
 */
export class GgufFolder extends ModelFiles {
  readonly #beside: ModelFiles;
  readonly #file: string;
  readonly #configOf: (gguf: GgufFile) => Promise<unknown>;
  #gguf: Promise<GgufFile> | undefined;
  #made: Promise<Contents> | undefined;
  #hasTokenizer: Promise<boolean> | undefined;

  /** @param configOf makes config.json */
  constructor(beside: ModelFiles, file: string, configOf: (gguf: GgufFile) => Promise<unknown>) {
    super(ggufBaseName(file), beside.where, async (name) => {
      const opened = (await this.#isOwn(name)) ? await beside.tryOpenEarly(name) : undefined;
      return opened ?? { missing: `There is no ${name} in ${beside.where}.` };
    });
    this.#beside = beside;
    this.#file = file;
    this.#configOf = configOf;
  }

  /** @throws ChorusError model_not_found, model_invalid, model_unsupported, model_download_failed, with the file's name */
  override openOwnCheckpoint(): Promise<GgufFile> {
    return (this.#gguf ??= GgufFile.open(this.#beside, this.#file));
  }

  override async readJson(file: string): Promise<unknown> {
    return (await this.tryReadJson(file)) ?? super.readJson(file);
  }

  override async tryReadJson(file: string): Promise<unknown> {
    const own = (await this.#isOwn(file)) ? await this.#beside.tryReadJson(file) : undefined;
    return own ?? (await (this.#made ??= this.#make()))[file];
  }

  /** Returns whether a file beside counts. */
  #isOwn(file: string): Promise<boolean> {
    if (file === CONFIG_FILE) return Promise.resolve(false);
    return (this.#hasTokenizer ??= this.#beside.tryOpenEarly(TOKENIZER_FILE).then((found) => found !== undefined));
  }

  async #make(): Promise<Contents> {
    const gguf = await this.openOwnCheckpoint();
    const config = await this.#configOf(gguf);
    const rows = gguf.shape("token_embd.weight")[0] ?? 0;
    return { [CONFIG_FILE]: config, ...(await this.#tokenizerFiles(gguf, rows)) };
  }

  /** Where another tokenizer counts, the file's own may be one that is not read. */
  async #tokenizerFiles(gguf: GgufFile, rows: number): Promise<Contents> {
    try {
      return tokenizerFilesOf(gguf, rows);
    } catch (error) {
      if (await this.#isOwn(TOKENIZER_FILE)) return chatFilesOf(gguf);
      throw error;
    }
  }
}
