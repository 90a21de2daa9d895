import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Chat } from "@ai-sdk/vue";
import { DirectChatTransport, ToolLoopAgent } from "ai";
import { createEngine } from "chorus-llm";
import { createApp, h, ref } from "vue";

const App = {
  props: ["engine"],
  setup({ engine }) {
    const chorus = createOpenAICompatible({ name: "chorus", baseURL: "http://chorus/v1", fetch: engine.fetch });
    const model = chorus.chatModel(engine.model.name);
    // The same question with and without chance. What both have in common, all of it here, is computed once.
    const chats = [0, 1].map((temperature) => {
      const agent = new ToolLoopAgent({ model, temperature, seed: 1, maxOutputTokens: 100 });
      return { name: `Temperature ${temperature}`, chat: new Chat({ transport: new DirectChatTransport({ agent }) }) };
    });
    const question = ref("Tell me a story about a dog.");
    const figure = ref("Ask both, and see how they share the model's steps.");

    const ask = async (event) => {
      event.preventDefault();
      const text = question.value;
      question.value = "";
      await Promise.all(chats.map(({ chat }) => chat.sendMessage({ text })));
      const { engine_steps_total: steps, step_sequences_total: sequences } = await engine.stats();
      const { name, adapter } = engine.model;
      figure.value = `${steps} steps with ${(sequences / steps).toFixed(2)} chats in each, on average (${name}, ${adapter}).`;
    };

    return () => [
      h("main", chats.map(chatView)),
      h("form", { onSubmit: ask }, [
        h("input", {
          "aria-label": "Question",
          value: question.value,
          onInput: ({ target }) => (question.value = target.value),
        }),
        h("button", { disabled: question.value === "" || chats.some(isBusy) }, "Ask both"),
      ]),
      h("output", figure.value),
    ];
  },
};

const isBusy = ({ chat }) => chat.status === "submitted" || chat.status === "streaming";

const chatView = ({ name, chat }) =>
  h("section", { "aria-label": name }, [
    h("h2", name),
    ...chat.messages.map(({ id, role, parts }) =>
      h("p", { key: id, class: role }, parts.map((part) => (part.type === "text" ? part.text : "")).join("")),
    ),
    chat.error && h("p", { role: "alert" }, chat.error.message),
  ]);

const root = document.getElementById("root");
try {
  const engine = await createEngine({
    model: new URLSearchParams(location.search).get("model") ?? "HuggingFaceTB/SmolLM2-135M-Instruct",
    onProgress: ({ stage, done, total }) => {
      if (stage === "weights" && total > 0)
        root.textContent = `Loading the model: ${Math.round((100 * done) / total)}%`;
    },
  });
  createApp(App, { engine }).mount(root);
} catch (error) {
  root.textContent = error.message;
}
