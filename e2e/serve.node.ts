// npm run serve with the embedded model, in a process of its own, asked by an unmodified client.

import { spawn } from "node:child_process";
import { once } from "node:events";
import OpenAI from "openai";
import { expect, it } from "vitest";

const { CHORUS_DAWN: dawn = "" } = process.env;

it.skipIf(!dawn)("answers openai's client, whole and streamed, and ends when it is told to", async () => {
  const words = ["tools/serve.mjs", "--model", "public/models/chorus-chat", "--port", "0", "--backend", "auto"];
  const server = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  server.stdout.on("data", (bytes) => (printed += String(bytes)));
  try {
    await expect.poll(() => printed, { interval: 200 }).toContain("Ctrl+C");
    const baseURL = /Serving at (\S+)/.exec(printed)?.[1] ?? "";
    const client = new OpenAI({ baseURL, apiKey: "none" });
    const [model] = (await client.models.list()).data;
    const body = {
      model: model?.id ?? "",
      messages: [{ role: "user", content: "Name a color." }],
      temperature: 0,
      max_tokens: 24,
    } as const;
    const whole = await client.chat.completions.create({ ...body, messages: [...body.messages] });
    expect(whole.choices[0]?.message.content?.trim()).not.toBe("");
    const stream = client.chat.completions.stream({ ...body, messages: [...body.messages] });
    expect(await stream.finalContent()).toBe(whole.choices[0]?.message.content);
    const chosen = await client.chat.completions.create({
      ...body,
      messages: [...body.messages],
      response_format: {
        type: "json_schema",
        json_schema: { name: "color", schema: { enum: ["red", "green"] } },
      },
    });
    expect(["red", "green"]).toContain(JSON.parse(chosen.choices[0]?.message.content ?? ""));
  } finally {
    server.kill("SIGTERM");
  }
  const [code] = (await once(server, "exit")) as [number];
  expect(code).toBe(0);
});

it("finishes what is in flight after a SIGTERM though nobody reads its output any more", async () => {
  const words = ["tools/serve.mjs", "--model", "public/models/chorus-chat", "--port", "0", "--backend", "cpu"];
  const server = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "pipe"] });
  const exited = once(server, "exit");
  let printed = "";
  server.stdout.on("data", (bytes) => (printed += String(bytes)));
  await expect.poll(() => printed, { interval: 200 }).toContain("Ctrl+C");
  server.stdout.destroy();
  server.stderr.destroy();
  const answer = await fetch(`${/Serving at (\S+)/.exec(printed)?.[1]}/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ prompt: "Hello", max_tokens: 300, ignore_eos: true, stream: true }),
  });
  server.kill("SIGTERM");
  expect(await answer.text()).toMatch(/data: \[DONE\]\n\n$/);
  expect(await exited).toEqual([0, null]);
});
