import { createEngine } from "chorus-llm";

const PROMPT = "Once upon a time, there was a little";
const SAMPLERS = [
  { temperature: 0 },
  { temperature: 0.7 },
  { temperature: 1.5 },
  { temperature: 1, top_k: 5 },
  { temperature: 1, top_p: 0.8 },
  { temperature: 1, min_p: 0.1 },
  { temperature: 1, typical_p: 0.5 },
  { temperature: 0, repetition_penalty: 1.3 },
];

const outputs = SAMPLERS.map((sampler) => {
  const article = document.createElement("article");
  const code = Object.assign(document.createElement("code"), { textContent: JSON.stringify(sampler) });
  const output = document.createElement("p");
  article.append(code, output);
  document.querySelector("main").append(article);
  return output;
});

const figure = document.querySelector("#figure");
const engine = await createEngine({
  model: new URLSearchParams(location.search).get("model") ?? "HuggingFaceTB/SmolLM2-135M-Instruct",
  onProgress: ({ stage, done, total }) => {
    if (stage === "weights" && total > 0)
      figure.textContent = `Loading the model: ${Math.round((100 * done) / total)}%`;
  },
}).catch((error) => {
  figure.textContent = error.message;
  throw error;
});

// Samplers are fields of a request: different ones share each step.
async function write(sampler, output) {
  output.textContent = "";
  const body = { prompt: PROMPT, ...sampler, seed: 7, max_tokens: 40, ignore_eos: true };
  for await (const { choices } of await engine.completions.create({ ...body, stream: true })) {
    output.textContent += choices[0].text;
  }
}

const writeAll = () => Promise.all(SAMPLERS.map((sampler, i) => write(sampler, outputs[i])));

async function seconds(batchingMode) {
  await engine.update({ batchingMode });
  const beganMs = performance.now();
  await writeAll();
  return ((performance.now() - beganMs) / 1000).toFixed(2);
}

// The first time code is compiled and the prompt is cached. Then both are timed alike.
await writeAll();
const alone = await seconds("sequential");
const together = await seconds("continuous");
const { name, adapter } = engine.model;
figure.textContent = `${SAMPLERS.length} samplers: ${together} s together, ${alone} s one after the other (${name}, ${adapter}).`;
