import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { useChat } from "@ai-sdk/react";
import { DirectChatTransport, ToolLoopAgent } from "ai";
import { createEngine } from "chorus-llm";
import { StrictMode, useEffect, useMemo, useState } from "react";
import { createRoot } from "react-dom/client";

function App({ engine }) {
  // The same question with and without chance. What both have in common, all of it here, is computed once.
  const [certain, inventive] = useMemo(() => {
    const chorus = createOpenAICompatible({ name: "chorus", baseURL: "http://chorus/v1", fetch: engine.fetch });
    const model = chorus.chatModel(engine.model.name);
    const chatAt = (temperature) =>
      new DirectChatTransport({ agent: new ToolLoopAgent({ model, temperature, seed: 1, maxOutputTokens: 100 }) });
    return [chatAt(0), chatAt(1)];
  }, [engine]);
  const left = useChat({ transport: certain });
  const right = useChat({ transport: inventive });
  const [question, setQuestion] = useState("Tell me a story about a dog.");
  const isBusy = [left, right].some(({ status }) => status === "submitted" || status === "streaming");

  const ask = (event) => {
    event.preventDefault();
    for (const chat of [left, right]) void chat.sendMessage({ text: question });
    setQuestion("");
  };

  return (
    <>
      <main>
        <Chat name="Temperature 0" {...left} />
        <Chat name="Temperature 1" {...right} />
      </main>
      <form onSubmit={ask}>
        <input aria-label="Question" value={question} onChange={({ target }) => setQuestion(target.value)} />
        <button disabled={isBusy || question === ""}>Ask both</button>
      </form>
      <Figure engine={engine} isBusy={isBusy} />
    </>
  );
}

function Chat({ name, messages, error }) {
  return (
    <section aria-label={name}>
      <h2>{name}</h2>
      {messages.map(({ id, role, parts }) => (
        <p key={id} className={role}>
          {parts.map((part) => (part.type === "text" ? part.text : ""))}
        </p>
      ))}
      {error && <p role="alert">{error.message}</p>}
    </section>
  );
}

/** How many chats each step of the model served. */
function Figure({ engine, isBusy }) {
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
  }, [engine, isBusy]);
  return <output>{text}</output>;
}

/** Shows the chats once there is an engine. Whoever leaves while it loads ends the loading, as StrictMode does once. */
function Page({ model }) {
  const [engine, setEngine] = useState(null);
  const [status, setStatus] = useState("Loading the model…");
  useEffect(() => {
    const leave = new AbortController();
    const onProgress = ({ stage, done, total }) => {
      if (stage === "weights" && total > 0) setStatus(`Loading the model: ${Math.round((100 * done) / total)}%`);
    };
    const loading = createEngine({ model, onProgress, signal: leave.signal });
    loading.then(setEngine, (error) => leave.signal.aborted || setStatus(error.message));
    return () => {
      leave.abort();
      loading.then(
        (loaded) => loaded.dispose(),
        () => {},
      );
    };
  }, [model]);
  return engine === null ? <output>{status}</output> : <App engine={engine} />;
}

const model = new URLSearchParams(location.search).get("model") ?? "HuggingFaceTB/SmolLM2-135M-Instruct";
createRoot(document.getElementById("root")).render(
  <StrictMode>
    <Page model={model} />
  </StrictMode>,
);
