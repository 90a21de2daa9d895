import { useId, useState, type FormEvent } from "react";
import { toErrorData } from "../../../index.ts";
import { shortAddress } from "../../remote/address.ts";
import type { Connections } from "../../state/connections/connections.ts";
import type { Connection } from "../../state/connections/saved-connections.ts";
import { Button } from "../components/Button.tsx";
import { textsOf } from "../texts-of.ts";

/** Adds a server by its address and, if it needs one, a key; or changes the key of a known one. */
export function AddConnection({ connections, known }: { connections: Connections; known?: Connection }) {
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
