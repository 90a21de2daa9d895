import type { HttpClient, HttpRequest } from "./http-client.ts";
import { ChorusError } from "../../protocol/errors.ts";

/** Size limit of files read into memory: configs, vocabularies, templates. (GPT-2's tokenizer.json is 2 MB.) */
export const MAX_SMALL_FILE_BYTES = 64 * 2 ** 20;

/**
 * Reads a whole body. Each retry starts at the beginning.
 * @throws ChorusError model_access_denied, model_download_failed; model_invalid for a body beyond the limit
 */
export async function readAll(
  http: HttpClient,
  request: HttpRequest,
  options: { signal?: AbortSignal | undefined; onBytes?: (done: number) => void } = {},
): Promise<{ response: Response; bytes: Uint8Array<ArrayBuffer> }> {
  return http.withRetries(async () => {
    const open = await http.open(request, options.signal);
    const parts: Uint8Array[] = [];
    let length = 0;
    for await (const piece of open.pieces()) {
      parts.push(piece);
      length += piece.length;
      if (length > MAX_SMALL_FILE_BYTES) throw tooLarge(request.file, length);
      options.onBytes?.(length);
    }
    const bytes = new Uint8Array(length);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return { response: open.response, bytes };
  }, options.signal);
}

export function tooLarge(file: string, bytes: number): ChorusError {
  return new ChorusError(
    "model_invalid",
    `${file} has ${bytes} bytes or more; the limit is ${MAX_SMALL_FILE_BYTES}.`,
    file,
  );
}
