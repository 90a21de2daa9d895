import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

import { createEngine } from "../../index.ts";
import { PORTABLE, PORTABLE_FILES, portableAnswers } from "../../../tests/requests/portable-request.ts";

it.each(PORTABLE_FILES)("answers with the bits that every browser is held to: %s", async (file) => {
  const names = ["config.json", "generation_config.json", "tokenizer.json", "model.safetensors"];
  const model = names.map((name) => new File([readFileSync(`public/models/chorus-chat/${name}`)], name));
  await using engine = await createEngine({ model, worker: false, cpuThreads: 1, ...PORTABLE[file] });
  await expect(await portableAnswers(engine)).toMatchFileSnapshot(`../../../e2e/support/${file}`);
});
