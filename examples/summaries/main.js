import { createEngine } from "chorus-llm";

const REVIEWS = [
  "The kettle boils in a minute and is quiet. I use it every morning.",
  "It broke after a week, and nobody answered my letters.",
  "Nice colour. A bit smaller than I thought, but it fits on the shelf.",
  "My children love it. We bought a second one for their grandmother.",
  "Far too loud. I sent it back the same day.",
  "Does what it says. Nothing more, nothing less.",
  "The best lamp that I ever had: warm light, and the switch is easy to find.",
  "It came late and the box was open, but everything was in it.",
];

// Every answer follows this schema, token by token: it can be parsed without a second try.
const schema = {
  type: "object",
  properties: {
    summary: { type: "string", maxLength: 40 },
    mood: { enum: ["glad", "neutral", "angry"] },
    stars: { type: "integer", minimum: 1, maximum: 5 },
  },
  required: ["summary", "mood", "stars"],
  additionalProperties: false,
};

const rows = REVIEWS.map((review) => {
  const row = document.querySelector("tbody").insertRow();
  row.insertCell().textContent = review;
  return [row.insertCell(), row.insertCell(), row.insertCell()];
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

async function summarize(review, [summary, mood, stars]) {
  const { choices } = await engine.chat.completions.create({
    messages: [{ role: "user", content: `Summarize this review in a few words, with its mood and stars: ${review}` }],
    response_format: { type: "json_schema", json_schema: { name: "summary", schema } },
    temperature: 0,
    // Room for the longest answer that the schema allows, at a token a byte.
    max_tokens: 250,
  });
  const parsed = JSON.parse(choices[0].message.content);
  summary.textContent = parsed.summary;
  mood.textContent = parsed.mood;
  stars.textContent = "★".repeat(parsed.stars);
}

const summarizeAll = () => Promise.all(REVIEWS.map((review, i) => summarize(review, rows[i])));

async function seconds(batchingMode) {
  await engine.update({ batchingMode });
  const beganMs = performance.now();
  await summarizeAll();
  return ((performance.now() - beganMs) / 1000).toFixed(2);
}

// The first time code is compiled and prompts are cached. Then both are timed alike.
await summarizeAll();
const alone = await seconds("sequential");
const together = await seconds("continuous");
const { name, adapter } = engine.model;
figure.textContent = `${REVIEWS.length} summaries: ${together} s together, ${alone} s one after the other (${name}, ${adapter}).`;
