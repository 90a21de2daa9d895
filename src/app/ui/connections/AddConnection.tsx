import { useId, useState, type FormEvent } from "react";
import { toErrorData } from "../../../index.ts";
import type { Connections } from "../../state/connections/connections.ts";
import { Button } from "../components/Button.tsx";
import view from "../components/PickerView.module.css";
import css from "./Connections.module.css";

/** Adds a server by its address and, if it needs one, a key. */
export function AddConnection({ connections }: { connections: Connections }) {
  const id = useId();
  const [address, setAddress] = useState("");
  const [key, setKey] = useState("");
  const [isKeyKept, setKeyKept] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);

  const add = (event: FormEvent) => {
    event.preventDefault();
    try {
      const baseUrl = connections.add(address, key, isKeyKept);
      setAddress("");
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
      <div className={view.line}>
        <input
          type="password"
          aria-label="Key"
          autoComplete="off"
          spellCheck={false}
          value={key}
          placeholder="Key, if it wants one"
          onChange={(event) => setKey(event.target.value)}
        />
        <Button type="submit">Connect</Button>
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
