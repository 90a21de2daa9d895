// A pattern that takes for ever, in a real worker. (It needs no GPU, but a browser.)

import { expect, test } from "vitest";

import { createEngine } from "../../index.ts";
import { checkpointFiles } from "../../testing/models/golden-answers.ts";

test("a text that takes for ever costs its own request, and others are answered meanwhile", async () => {
  const files = await Promise.all(
    (await checkpointFiles("model.safetensors")).map(async (file) => {
      if (file.name !== "tokenizer.json") return file;
      const json = JSON.parse(await file.text()) as Record<string, unknown>;
      const split = {
        type: "Split",
        pattern: { Regex: " * * * * * *x|[^ ]+| +" },
        behavior: "Isolated",
        invert: false,
      };
      json["pre_tokenizer"] = { type: "Sequence", pretokenizers: [split, json["pre_tokenizer"]] };
      return new File([JSON.stringify(json)], file.name);
    }),
  );
  await using engine = await createEngine({ model: files, worker: false, backend: "cpu", dtype: "f32" });
  const ask = (prompt: string | number[]) => engine.completions.create({ prompt, max_tokens: 8, temperature: 0 });
  const before = await ask("Once upon a time");
  const endless = ask(" ".repeat(400)).catch((error: unknown) => error);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await engine.stats()).num_requests_running).toBe(0);
  const controller = new AbortController();
  const aborted = engine.completions.create({ prompt: "x" }, { signal: controller.signal }).catch(() => "aborted");
  controller.abort();
  expect(await aborted).toBe("aborted");
  expect(await endless).toMatchObject({ code: "invalid_value", param: "prompt" });
  expect((await ask("Once upon a time")).choices).toEqual(before.choices);
});
