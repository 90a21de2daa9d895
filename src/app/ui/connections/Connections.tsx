import type { AppState } from "../../state/app/app-state.ts";
import { useStore } from "../use-store.ts";
import { AddConnection } from "./AddConnection.tsx";
import { ConnectionRow } from "./ConnectionRow.tsx";
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
      <div className="min-h-30 min-w-0 flex-1 overflow-auto overscroll-contain">
        {connections.length === 0 ? (
          <p className="max-w-[66ch] px-(--edge) py-5 text-ink-2">
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
      <div className="grid flex-none grid-cols-2 gap-6 border-t border-line bg-surface-2 px-(--edge) py-4 max-sm:grid-cols-1">
        <AddConnection connections={app.connections} />
        <SpillOverForm connections={app.connections} />
      </div>
    </>
  );
}
