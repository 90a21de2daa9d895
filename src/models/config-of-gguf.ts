import type { GgufFile } from "../files/gguf/gguf-file.ts";
import { brief } from "../files/json-fields.ts";
import { ChorusError } from "../protocol/errors.ts";
import { storedAs } from "../files/tensor.ts";
import { FAMILIES, MADE_OF_GGUF, type MadeOfGguf } from "./families.ts";
import { GgufPairs } from "./gguf-pairs.ts";

/** @throws ChorusError model_invalid; model_unsupported for an architecture that no family has */
export async function configOfGguf(gguf: GgufFile, families = FAMILIES): Promise<Record<string, unknown>> {
  const pairs = new GgufPairs(gguf);
  const { architecture } = pairs;
  const forms = families.flatMap(({ gguf: form }) => form ?? []);
  const form = forms.find(({ architectures }) => architectures.has(architecture));
  if (form) {
    const modelType = form.architectures.get(architecture);
    const stored = Object.fromEntries(gguf.names().map((name) => [name, storedAs(gguf.tensor(name))]));
    const made: MadeOfGguf = { file: gguf.file, architecture, stored };
    return { ...(await form.config(pairs)), model_type: modelType, [MADE_OF_GGUF]: made };
  }
  const known = forms.flatMap(({ architectures }) => [...architectures.keys()]).join(", ");
  const message = `${gguf.file} has the architecture ${brief(architecture)}, which is not supported (known: ${known}).`;
  throw new ChorusError("model_unsupported", message, gguf.file);
}
