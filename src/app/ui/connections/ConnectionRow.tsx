import { useState, type FormEvent } from "react";
import { softwareOf } from "../../remote/server-software.ts";
import { shortAddress } from "../../remote/address.ts";
import type { AppState } from "../../state/app/app-state.ts";
import type { Connection } from "../../state/connections/saved-connections.ts";
import { Button, IconButton, Icon } from "../components/Button.tsx";
import { AddConnection } from "./AddConnection.tsx";
import { classNames } from "../class-names.ts";
import { formatCounted } from "../format.ts";
import { textsOf } from "../texts-of.ts";
import { useStore } from "../use-store.ts";

interface ConnectionRowProps {
  app: AppState;
  connection: Connection;
  onUsed: () => void;
}

/** A server: its address and software, its models, a test, and its removal. */
export function ConnectionRow({ app, connection, onUsed }: ConnectionRowProps) {
  const { connections, workspace } = app;
  const { kind, baseUrl, models, ownedBy, key, test } = connection;
  const hasModels = kind === "models";
  const host = shortAddress(baseUrl);
  const current = useStore(workspace.store, (state) => state.current);
  const [model, setModel] = useState(models[0] ?? "");
  const chosen = models.includes(model) ? model : (models[0] ?? "");

  const use = () => {
    const pane = workspace.store.getState().panes.find(({ number }) => number === current);
    if (hasModels) pane?.answerBy({ baseUrl, model: chosen });
    else pane?.set("mcp_servers", [...new Set([...(pane.asking.getState().settings.mcp_servers ?? []), baseUrl])]);
    onUsed();
  };
  const facts = [
    hasModels ? ownedBy && softwareOf(ownedBy).title : "MCP server",
    formatCounted(models.length, hasModels ? "model" : "tool"),
    key === null ? null : connection.isKeyKept ? "key kept in this browser" : "key until this page closes",
  ];
  return (
    <li className="grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-3 gap-y-2 border-b border-line py-3 pr-4 pl-(--edge) max-sm:pr-2">
      <div>
        <h3 className="title min-w-0 truncate">{host}</h3>
        <p className="small">{facts.filter(Boolean).join(", ")}</p>
      </div>
      <div className="row gap-1">
        <Button disabled={test === "running"} onClick={() => void connections.test(baseUrl)}>
          Test
        </Button>
        <IconButton icon="trash" name={`Remove ${host}`} title="Remove" onClick={() => connections.remove(baseUrl)} />
      </div>
      {test !== null && <TestResult test={test} />}
      {models.length > 0 && (
        <div className="row col-span-full wrap-anywhere max-sm:pr-2">
          {hasModels && (
            <select
              className="flex-1"
              aria-label={`Model of ${host}`}
              value={chosen}
              onChange={(event) => setModel(event.target.value)}
            >
              {models.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
          <Button onClick={use}>Use in pane {current}</Button>
        </div>
      )}
      <details>
        <summary className="small" aria-label={`Key of ${host}`}>
          Key
        </summary>
        <AddConnection connections={connections} known={connection} />
      </details>
      {hasModels && ownedBy === null && test !== "running" && <TypedModel app={app} connection={connection} />}
    </li>
  );
}

function TestResult({ test }: { test: NonNullable<Connection["test"]> }) {
  if (test === "running")
    return <output className="row col-span-full items-start wrap-anywhere text-ink-2">Asking the server…</output>;
  const { problem, message } = test;
  return (
    <output
      className={classNames(
        "row col-span-full items-start wrap-anywhere text-ink-2",
        problem === null ? "text-good" : "text-bad",
      )}
    >
      <Icon name={problem === null ? "tick" : "warn"} />
      <span className="min-h-0 min-w-0 flex-1">
        {problem !== null && <b>{TITLES[problem]}. </b>}
        {message}
      </span>
    </output>
  );
}

const TITLES = {
  "mixed content": "Mixed content",
  permission: "The browser's permission is missing",
  CORS: "Not allowed for this page",
  unreachable: "Nothing answers",
  slow: "No answer in time",
  key: "Access refused",
  "no API": "No OpenAI API here",
  "no MCP": "No MCP server here",
  "no such model": "No such model",
  refused: "The server refuses",
} as const;

/** Adds a model by name, for servers that don't list theirs. */
function TypedModel({ app, connection }: { app: AppState; connection: Connection }) {
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    app.connections.addModel(connection.baseUrl, textsOf(event.currentTarget)["model"] ?? "");
    event.currentTarget.reset();
  };
  return (
    <form className="row col-span-full wrap-anywhere max-sm:pr-2" onSubmit={add}>
      <input
        className="flex-1"
        aria-label="Name of a model"
        name="model"
        placeholder="Name of a model, if it lists none"
        autoCapitalize="off"
        spellCheck={false}
      />
      <Button type="submit">Add model</Button>
    </form>
  );
}
