import type { AppState } from "../../state/app/app-state.ts";
import { useStore } from "../use-store.ts";
import { AddConnection } from "./AddConnection.tsx";
import { ConnectionRow } from "./ConnectionRow.tsx";
import { useId } from "react";
import { remoteName } from "../../state/connections/connections.ts";
import { MAX_LIMIT_S } from "../../state/connections/saved-connections.ts";
import { readRemote, remoteChoices, writeRemote } from "../../state/connections/remote-choices.ts";

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

const DEFAULT_LIMIT_S = 10;

/** Chooses where new questions go when this page's own queue is long. */
function SpillOverForm({ connections }: Pick<AppState, "connections">) {
  const id = useId();
  const { connections: servers, spillOver } = useStore(connections.store);
  const choices = remoteChoices(servers, spillOver);
  const choose = (text: string) => {
    const remote = readRemote(text);
    connections.spillTo(remote && { ...remote, limitS: spillOver?.limitS ?? DEFAULT_LIMIT_S });
  };
  return (
    <div className="stack content-start gap-2">
      <label className="font-semibold" htmlFor={id}>
        When this page&rsquo;s queue is long
      </label>
      <select id={id} value={writeRemote(spillOver)} onChange={(event) => choose(event.target.value)}>
        <option value="">Wait for this page&rsquo;s engine</option>
        {choices.map((remote) => (
          <option key={writeRemote(remote)} value={writeRemote(remote)}>
            Send new questions to {remoteName(remote)}
          </option>
        ))}
      </select>
      {spillOver !== null && (
        <label className="row min-h-7 text-ink-2">
          from a wait of
          <input
            type="number"
            className="w-20"
            min={0}
            max={MAX_LIMIT_S}
            value={spillOver.limitS}
            onChange={({ target }) => {
              const limitS = target.valueAsNumber;
              if (Number.isInteger(limitS) && target.validity.valid) connections.spillTo({ ...spillOver, limitS });
            }}
          />
          seconds on
        </label>
      )}
    </div>
  );
}
