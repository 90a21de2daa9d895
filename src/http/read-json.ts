import { parseJson } from "../protocol/bounded-data.ts";
import { byteSize } from "../protocol/byte-size.ts";
import { HttpError } from "./errors.ts";

/** Longest body: enough for a prompt of a million tokens. */
export const MAX_BODY_BYTES = 8 * 2 ** 20;

/** Most keys, lists and objects of a body. More take seconds to build, to copy and to check. */
const MAX_PARTS = 100_000;

/**
 * Returns a request's body.
 * @throws HttpError 415 if it is compressed, 413 if it is too long, 400 if it is not JSON, too deep or has too many parts
 */
export async function readJson(request: Request): Promise<unknown> {
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    const message = `A body with Content-Encoding: ${encoding} is not read. Send it uncompressed.`;
    throw new HttpError(415, "unsupported_media_type", message, { "accept-encoding": "identity" });
  }
  if (Number(request.headers.get("content-length")) > MAX_BODY_BYTES) throw tooLarge();
  const text = await readText(request);
  try {
    return parseJson(text, MAX_PARTS);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new HttpError(400, "invalid_json", `The request body is not valid JSON: ${reason}`);
  }
}

/** Reads no more than allowed. (Firefox does not offer the body of a Request as a stream; there it is in memory already.) */
async function readText(request: Request): Promise<string> {
  if (!request.body) {
    const bytes = await request.arrayBuffer();
    if (bytes.byteLength > MAX_BODY_BYTES) throw tooLarge();
    return new TextDecoder().decode(bytes);
  }
  const utf8 = new TextDecoder();
  const parts: string[] = [];
  let length = 0;
  // Leaving the loop cancels the body.
  for await (const bytes of request.body) {
    length += bytes.byteLength;
    if (length > MAX_BODY_BYTES) throw tooLarge();
    parts.push(utf8.decode(bytes, { stream: true }));
  }
  return parts.join("") + utf8.decode();
}

function tooLarge(): HttpError {
  const message = `The request body has more than ${byteSize(MAX_BODY_BYTES)}, the most that is read.`;
  return new HttpError(413, "request_too_large", message);
}
