// node client.js [address], while `npx chorus-serve --model owner/name` runs. Any client of OpenAI's API does.

const [, , address = "http://127.0.0.1:8000/v1"] = process.argv;
const { data } = await (await fetch(`${address}/models`)).json();

const QUESTIONS = [
  "Tell me a story about a dog.",
  "What is the capital of France?",
  "Write a poem.",
  "Tell me a story about the sea.",
];

async function ask(question) {
  const messages = [{ role: "user", content: question }];
  const body = { model: data[0].id, messages, temperature: 0, max_tokens: 64 };
  const response = await fetch(`${address}/chat/completions`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  return (await response.json()).choices[0].message.content.trim();
}

async function seconds(work) {
  const beganMs = performance.now();
  await work();
  return ((performance.now() - beganMs) / 1000).toFixed(2);
}

// The first time code is compiled and prompts are cached. Then both are timed alike.
console.log((await Promise.all(QUESTIONS.map(ask))).join("\n\n"));
const alone = await seconds(async () => {
  for (const question of QUESTIONS) await ask(question);
});
const together = await seconds(() => Promise.all(QUESTIONS.map(ask)));
console.log(`Together ${together} s, one after the other ${alone} s (${data[0].id}).`);
