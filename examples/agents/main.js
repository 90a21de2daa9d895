import { createEngine } from "chorus-llm";

const TOPIC = "Where shall we spend the summer?";
const AGENTS = {
  Ann: "You love the sea.",
  Ben: "You love mountains.",
  Cleo: "You love cities.",
  Dan: "You want to stay home.",
};
const NUM_ROUNDS = 3;

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

/**
 * Returns one agent's reply to the conversation so far. The common part comes first, and the speaker's name last: so their
 * prompts begin alike, and the beginning is computed once.
 */
async function speak(name, said, seed) {
  const content = [TOPIC, ...said, `You are ${name}. ${AGENTS[name]} Say one short sentence.`].join("\n");
  const body = { messages: [{ role: "user", content }], temperature: 0.8, seed, max_tokens: 30 };
  const { choices } = await engine.chat.completions.create(body);
  return `${name}: ${choices[0].message.content.trim()}`;
}

/** In each round all agents think at the same time, about all that was said in the rounds before. */
async function talk(show) {
  const said = [];
  for (let round = 1; round <= NUM_ROUNDS; round++) {
    const speaking = Object.keys(AGENTS).map((name, i) => speak(name, said, 10 * round + i));
    const lines = await Promise.all(speaking);
    said.push(...lines);
    show(round, lines);
  }
}

function showRound(round, lines) {
  const list = document.querySelector("ul");
  list.append(Object.assign(document.createElement("li"), { className: "round", textContent: `Round ${round}` }));
  for (const line of lines) list.append(Object.assign(document.createElement("li"), { textContent: line }));
}

async function seconds(batchingMode) {
  await engine.update({ batchingMode });
  const beganMs = performance.now();
  await talk(() => undefined);
  return ((performance.now() - beganMs) / 1000).toFixed(2);
}

await talk(showRound);
const { prefix_cache_hits: hits, prefix_cache_queries: queries } = await engine.stats();
// They say the same again, with the same seeds.
const alone = await seconds("sequential");
const together = await seconds("continuous");
const { name, adapter } = engine.model;
figure.textContent =
  `${NUM_ROUNDS} rounds of ${Object.keys(AGENTS).length} agents: ${together} s together, ${alone} s one after the other (${name}, ${adapter}). ` +
  `${hits} of the ${queries} prompt tokens came from the prefix cache.`;
