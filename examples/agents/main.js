import { createEngine } from "chorus-llm";

const TOPIC = "Where shall we spend the summer?";
const AGENTS = {
  Ann: "You love the sea.",
  Ben: "You love mountains.",
  Cleo: "You love cities.",
  Dan: "You want to stay home.",
};
const NUM_ROUNDS = 3;

const engine = await createEngine({
  model: new URLSearchParams(location.search).get("model") ?? "HuggingFaceTB/SmolLM2-135M-Instruct",
});

/** What one agent says to all that was said so far. */
async function speak(name, said) {
  const messages = [
    { role: "system", content: `You are ${name}. ${AGENTS[name]} Say one short sentence.` },
    { role: "user", content: [TOPIC, ...said].join("\n") },
  ];
  const { choices } = await engine.chat.completions.create({ messages, temperature: 0.8, seed: 1, max_tokens: 30 });
  return `${name}: ${choices[0].message.content.trim()}`;
}

/** In each round all agents think at the same time, about what was said in the rounds before. */
async function talk(show) {
  const said = [];
  for (let round = 1; round <= NUM_ROUNDS; round++) {
    const heard = said.slice(-Object.keys(AGENTS).length);
    said.push(...(await Promise.all(Object.keys(AGENTS).map((name) => speak(name, heard)))));
    show(round, said.slice(-Object.keys(AGENTS).length));
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
// They say the same again, with the same seeds.
const alone = await seconds("sequential");
const together = await seconds("continuous");
const { name, adapter } = engine.model;
document.querySelector("#figure").textContent =
  `${NUM_ROUNDS} rounds of ${Object.keys(AGENTS).length} agents: ${together} s together, ${alone} s one after the other (${name}, ${adapter}).`;
