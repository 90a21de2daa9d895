import type { AppState } from "../../state/app/app-state.ts";
import { useStore } from "../use-store.ts";
import { AddConnection } from "./AddConnection.tsx";
import { ConnectionRow } from "./ConnectionRow.tsx";
import view from "../components/PickerView.module.css";
import css from "./Connections.module.css";
import { SpillOverForm } from "./SpillOverForm.tsx";

interface ConnectionsProps {
  app: AppState;
  /** Called when a pane was given to a server. */
  onUsed: () => void;
}

/** The servers that can answer panes, and ways to add more. */
export function Connections({ app, onUsed }: ConnectionsProps) {
  const connections = useStore(app.connections.store, (state) => state.connections);
  return (
    <>
      <div className={view.body}>
        {connections.length === 0 ? (
          <p className={css.empty}>
            No servers yet. Any server of OpenAI&rsquo;s API can answer a pane: vLLM, SGLang, llama.cpp, Ollama, LM
            Studio, <code>npm run serve</code>, or a gateway before many machines. What you ask in such a pane is sent
            to that server. MCP servers over HTTP give a pane&rsquo;s model tools.
          </p>
        ) : (
          <ul aria-label="Connections">
            {connections.map((connection) => (
              <ConnectionRow key={connection.baseUrl} app={app} connection={connection} onUsed={onUsed} />
            ))}
          </ul>
        )}
      </div>
      <div className={view.add}>
        <AddConnection connections={app.connections} />
        <SpillOverForm connections={app.connections} />
      </div>
    </>
  );
}
