// Apart from tokenize.ts, which reads requests: that is another thread's, and the engine's would load it too.

import type { DetokenizeResponse } from "../protocol/tokenize.ts";
import type { TokenNames } from "./token-names.ts";
import type { RequestContext } from "./parsed-request.ts";
import { checkModel, parseTokenId } from "./shared-fields.ts";
import { textOf } from "./text-of-tokens.ts";
import { Fields, missing } from "./validate.ts";

/** Returns the text of token ids. @throws ChorusError naming the field */
export function detokenize(
  body: unknown,
  context: Pick<RequestContext, "modelName" | "vocabSize">,
  names: TokenNames,
): DetokenizeResponse {
  const fields = new Fields(body);
  fields.refuseOthers(["model", "tokens"]);
  checkModel(fields, context.modelName);
  const tokens = fields.list("tokens", (value, path) => parseTokenId(path, value, context.vocabSize));
  if (tokens === undefined) throw missing("tokens");
  return { prompt: textOf(tokens, names) };
}
