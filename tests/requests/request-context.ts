import { readFileSync } from "node:fs";

import { createChatFormat } from "../../src/api/chat-format.ts";
import type { RequestContext } from "../../src/api/parsed-request.ts";
import { openFileList, type ModelFiles } from "../../src/files/model-files.ts";
import { loadTokenizer, type ModelTokenizer } from "../../src/files/tokenizer.ts";

/** Files of a folder of the repository, read from disk. */
export function openFolder(folder: string, names: readonly string[]): ModelFiles {
  return openFileList(names.map((name) => new File([readFileSync(`${folder}/${name}`)], name)));
}

/** The embedded model's. */
export async function loadChorusTokenizer(): Promise<ModelTokenizer> {
  return loadTokenizer(openFolder("public/models/chorus-chat", ["tokenizer.json", "tokenizer_config.json"]));
}

/** The context for parsing requests to the embedded model: 256 tokens, and a cache of 1024. Seeds: 1000, 1001, ... */
export function requestContext(tokenizer: ModelTokenizer, changes: Partial<RequestContext> = {}): RequestContext {
  let seed = 1000;
  return {
    modelName: "chorus-chat",
    vocabSize: 4096,
    tokenizer,
    chatFormat: createChatFormat(tokenizer),
    defaults: {
      temperature: 0.6,
      topK: 30,
      topP: 0.9,
      minP: 0,
      typicalP: 1,
      repetitionPenalty: 1,
      noRepeatNgramSize: 0,
    },
    eosTokenIds: [0],
    limits: { maxModelLen: 256, blockSize: 16, numGpuBlocks: 64 },
    nextSeed: () => seed++,
    ...changes,
  };
}
