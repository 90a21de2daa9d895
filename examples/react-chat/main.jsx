import { useChat } from "@ai-sdk/react";
import { DirectChatTransport, ToolLoopAgent } from "ai";
import { createEngine } from "chorus-llm";
import { ChorusLanguageModel } from "chorus-llm/ai-sdk";
import { useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

const engine = await createEngine({
  model: new URLSearchParams(location.search).get("model") ?? "HuggingFaceTB/SmolLM2-135M-Instruct",
});
const model = new ChorusLanguageModel(engine);
const chatWith = (instructions) =>
  new DirectChatTransport({ agent: new ToolLoopAgent({ model, instructions, temperature: 0 }) });
const short = chatWith("Answer in one short sentence.");
const long = chatWith("Answer in three sentences, with an example.");

function App() {
  const left = useChat({ transport: short });
  const right = useChat({ transport: long });
  const [question, setQuestion] = useState("What is the capital of France?");
  const isBusy = [left, right].some(({ status }) => status === "submitted" || status === "streaming");

  const ask = (event) => {
    event.preventDefault();
    for (const chat of [left, right]) void chat.sendMessage({ text: question });
    setQuestion("");
  };

  return (
    <>
      <h1>Two chats, one model</h1>
      <main>
        <Chat name="In short" messages={left.messages} />
        <Chat name="At length" messages={right.messages} />
      </main>
      <form onSubmit={ask}>
        <input aria-label="Question" value={question} onChange={({ target }) => setQuestion(target.value)} />
        <button disabled={isBusy || question === ""}>Ask both</button>
      </form>
      <Figure isBusy={isBusy} />
    </>
  );
}

function Chat({ name, messages }) {
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      {messages.map(({ id, role, parts }) => (
        <p key={id} className={role}>
          {parts.map((part) => (part.type === "text" ? part.text : ""))}
        </p>
      ))}
    </section>
  );
}

/** How many chats each step of the model served. */
function Figure({ isBusy }) {
  const [text, setText] = useState("Ask both, and see how they share the model's steps.");
  useEffect(() => {
    if (isBusy) return;
    engine.stats().then(({ engine_steps_total: steps, step_sequences_total: sequences }) => {
      if (steps === 0) return;
      const chats = (sequences / steps).toFixed(2);
      setText(
        `${steps} steps with ${chats} chats in each, on average (${engine.model.name}, ${engine.model.adapter}).`,
      );
    });
  }, [isBusy]);
  return <output>{text}</output>;
}

createRoot(document.getElementById("root")).render(<App />);
