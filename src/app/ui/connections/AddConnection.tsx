import { useId, useState, type FormEvent } from "react";
import { toErrorData } from "../../../index.ts";
import { shortAddress } from "../../remote/address.ts";
import type { Connections } from "../../state/connections/connections.ts";
import type { Connection } from "../../state/connections/saved-connections.ts";
import { Button } from "../components/Button.tsx";
import view from "../components/PickerView.module.css";
import css from "./Connections.module.css";

interface AddConnectionProps {
  connections: Connections;
  /** The server whose key is changed. [one is added] */
  known?: Connection;
}

/** Adds a server by its address and, if it needs one, a key; or changes a server's key. */
export function AddConnection({ connections, known }: AddConnectionProps) {
  const id = useId();
  const [address, setAddress] = useState(known?.baseUrl ?? "");
  const [key, setKey] = useState("");
  const [isKeyKept, setKeyKept] = useState(known?.isKeyKept ?? false);
  const [problem, setProblem] = useState<string | null>(null);

  const add = (event: FormEvent) => {
    event.preventDefault();
    try {
      const baseUrl = connections.add(address, key, isKeyKept);
      if (!known) setAddress("");
      setKey("");
      setProblem(null);
      // In the handler of a click, where the browser may ask for permission.
      void connections.test(baseUrl);
    } catch (error) {
      setProblem(toErrorData(error).message);
    }
  };
  return (
    <form className={view.form} onSubmit={add} autoComplete="off">
      {!known && (
        <>
          <label className={view.label} htmlFor={`${id}-address`}>
            Add a server
          </label>
          <input
            id={`${id}-address`}
            value={address}
            placeholder="http://localhost:8000 or https://host.example/v1"
            autoCapitalize="off"
            spellCheck={false}
            required
            aria-invalid={problem !== null}
            aria-describedby={problem === null ? undefined : `${id}-problem`}
            onChange={(event) => setAddress(event.target.value)}
          />
        </>
      )}
      <div className={view.line}>
        <input
          type="password"
          aria-label={known ? `Key of ${shortAddress(known.baseUrl)}` : "Key"}
          required={known !== undefined}
          autoComplete="off"
          spellCheck={false}
          value={key}
          placeholder={known ? "The new key" : "Key, if it wants one"}
          onChange={(event) => setKey(event.target.value)}
        />
        <Button type="submit">{known ? "Change the key" : "Connect"}</Button>
      </div>
      <label className={css.check}>
        <input type="checkbox" checked={isKeyKept} onChange={(event) => setKeyKept(event.target.checked)} />
        Keep the key in this browser
      </label>
      {problem !== null && (
        <p id={`${id}-problem`} className="bad" role="alert">
          {problem}
        </p>
      )}
    </form>
  );
}
