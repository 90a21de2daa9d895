// Apart from tokenize.ts, which reads requests: that is another thread's, and the engine's would load it too.

import type { DetokenizeResponse } from "../protocol/tokenize.ts";
import { textOf, type TokenNames } from "./token-names.ts";
import type { RequestContext } from "./parsed-request.ts";
import { checkModel, parseTokenIds } from "./shared-fields.ts";
import { Fields } from "./validate.ts";

/** Returns the text of token ids. @throws ChorusError naming the field */
export function detokenize(
  body: unknown,
  context: Pick<RequestContext, "modelName" | "vocabSize">,
  names: TokenNames,
): DetokenizeResponse {
  const fields = new Fields(body);
  fields.refuseOthers(["model", "tokens"]);
  checkModel(fields, context.modelName);
  return { prompt: textOf(fields.needed("tokens", parseTokenIds(fields, "tokens", context.vocabSize)), names) };
}
