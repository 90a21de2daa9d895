// The page of each bundler: one answer, and one under a grammar. "?shared" requests an engine that pages share.

import { createEngine } from "chorus-llm";

async function ask() {
  /** @type {{ role: "user", content: string }[]} */
  const messages = [{ role: "user", content: "What is the capital of France?" }];
  const worker = location.search === "?shared" ? "shared" : true;
  const engine = await createEngine({ model: "/some/where/models/chorus-chat/", backend: "cpu", worker });
  const answer = await engine.chat.completions.create({ messages, temperature: 0 });
  const choice = await engine.chat.completions.create({ messages, structured_outputs: { choice: ["Lyon", "Nice"] } });
  await engine.dispose();
  return [answer, choice].map(({ choices }) => choices[0]?.message.content).join(" ");
}

ask().then(
  (text) => (document.title = text),
  (error) => (document.title = error.stack),
);
