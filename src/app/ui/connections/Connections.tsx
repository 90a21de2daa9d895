import type { AppState } from "../../state/app/app-state.ts";
import { useApp } from "../app/page-context.ts";
import { useId, useState, type FormEvent } from "react";
import { useStore } from "zustand";
import {
  remoteChoices,
  remoteName,
  writeRemote,
  MAX_LIMIT_S,
  type Connection,
} from "../../state/connections/connections.ts";
import { softwareOf } from "../../remote/server-software.ts";
import { shortAddress } from "../../remote/address.ts";
import { CONNECTION_PROBLEMS } from "../../remote/test-connection.ts";
import { Button, IconButton, Icon } from "../components/Button.tsx";
import { useClose } from "../components/Dialog.tsx";
import { classNames } from "../class-names.ts";
import { formatCounted } from "../format.ts";
import { textsOf } from "../texts-of.ts";
import { toErrorData } from "../../../index.ts";

/** The servers that can answer panes, and ways to add more. */
export function Connections() {
  const { connections } = useApp();
  const servers = useStore(connections.store, (state) => state.connections);
  return (
    <>
      <div className="min-h-30 min-w-0 flex-1 overflow-auto overscroll-contain">
        {servers.length === 0 ? (
          <p className="max-w-[66ch] px-(--edge) py-5 text-ink-2">
            No servers yet. Any server of OpenAI&rsquo;s API can answer a pane: vLLM, SGLang, llama.cpp, Ollama, LM
            Studio, <code>npm run serve</code>, or a gateway before many machines. What you ask in such a pane is sent
            to that server. MCP servers over HTTP give a pane&rsquo;s model tools.
          </p>
        ) : (
          <ul aria-label="Connections">
            {servers.map((server) => (
              <ConnectionRow key={server.baseUrl} connection={server} />
            ))}
          </ul>
        )}
      </div>
      <div className="grid flex-none grid-cols-2 gap-6 border-t border-line bg-surface-2 px-(--edge) py-4 max-sm:grid-cols-1">
        <AddConnection connections={connections} />
        <SpillOverForm connections={connections} />
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
    const remote = choices.find((choice) => writeRemote(choice) === text);
    connections.spillTo(remote ? { ...remote, limitS: spillOver?.limitS ?? DEFAULT_LIMIT_S } : null);
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

/** A server: its address and software, its models, a test, and its removal. */
function ConnectionRow({ connection }: { connection: Connection }) {
  const { connections, workspace } = useApp();
  const close = useClose();
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
    close();
  };
  const addModel = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    connections.addModel(baseUrl, textsOf(event.currentTarget)["model"] ?? "");
    event.currentTarget.reset();
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
      {hasModels && ownedBy === null && test !== "running" && (
        <form className="row col-span-full wrap-anywhere max-sm:pr-2" onSubmit={addModel}>
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
      )}
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
        {problem !== null && <b>{CONNECTION_PROBLEMS[problem]}. </b>}
        {message}
      </span>
    </output>
  );
}

/** Adds a server by its address and, if it needs one, a key; or changes the key of a known one. */
export function AddConnection({ connections, known }: Pick<AppState, "connections"> & { known?: Connection }) {
  const id = useId();
  const [problem, setProblem] = useState<string | null>(null);

  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const { address = known?.baseUrl ?? "", key = "", kept, tools } = textsOf(form);
    try {
      const kind = tools === undefined ? known?.kind : "tools";
      const baseUrl = connections.add(address, key, kept !== undefined, kind);
      for (const box of form.querySelectorAll<HTMLInputElement>("input:not([type=checkbox])")) box.value = "";
      setProblem(null);
      // In the handler of a click, where the browser may ask for permission.
      void connections.test(baseUrl);
    } catch (error) {
      setProblem(toErrorData(error).message);
    }
  };
  return (
    <form className="stack content-start gap-2" onSubmit={add} autoComplete="off">
      {!known && (
        <>
          <label className="font-semibold" htmlFor={`${id}-address`}>
            Add a server
          </label>
          <input
            id={`${id}-address`}
            name="address"
            placeholder="http://localhost:8000 or https://host.example/v1"
            autoCapitalize="off"
            spellCheck={false}
            required
            aria-invalid={problem !== null}
            aria-describedby={problem === null ? undefined : `${id}-problem`}
          />
        </>
      )}
      <div className="row">
        <input
          type="password"
          className="flex-1"
          name="key"
          aria-label={known ? `Key of ${shortAddress(known.baseUrl)}` : "Key"}
          required={known !== undefined}
          autoComplete="off"
          spellCheck={false}
          placeholder={known ? "The new key" : "Key, if it wants one"}
        />
        <Button type="submit">{known ? "Change the key" : "Connect"}</Button>
      </div>
      <label className="row min-h-7 text-ink-2">
        <input type="checkbox" className="size-4" name="kept" defaultChecked={known?.isKeyKept} />
        Keep the key in this browser
      </label>
      {!known && (
        <label className="row min-h-7 text-ink-2">
          <input type="checkbox" className="size-4" name="tools" />
          It has tools, not models: an MCP server over HTTP
        </label>
      )}
      {problem !== null && (
        <p id={`${id}-problem`} className="text-bad" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
