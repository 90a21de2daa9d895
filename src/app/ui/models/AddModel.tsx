import { useId, useState, type FormEvent } from "react";
import type { ModelShelf } from "../../state/models/model-shelf.ts";
import { Button } from "../components/Button.tsx";
import view from "../components/PickerView.module.css";
import css from "./AddModel.module.css";

interface AddModelProps {
  shelf: ModelShelf;
  /** Called with the key of the model, which is being looked up. */
  onAdded: (key: string) => void;
}

/** Adds a model by its hub name or its folder's address. */
export function AddModel({ shelf, onAdded }: AddModelProps) {
  const id = useId();
  const [model, setModel] = useState("");
  const [revision, setRevision] = useState("");
  const [token, setToken] = useState("");
  const [hubUrl, setHubUrl] = useState("");

  const add = (event: FormEvent) => {
    event.preventDefault();
    const hub = {
      ...(revision.trim() && { revision: revision.trim() }),
      ...(token.trim() && { token: token.trim() }),
      ...(hubUrl.trim() && { hubUrl: hubUrl.trim() }),
    };
    const key = shelf.add(model, hub);
    if (key === null) return;
    setModel("");
    onAdded(key);
  };
  return (
    <form className={view.form} onSubmit={add}>
      <label className={view.label} htmlFor={id}>
        Add by hub name or address
      </label>
      <div className={view.line}>
        <input
          id={id}
          value={model}
          placeholder="owner/name, owner/name:Q4_K_M or https://…"
          autoCapitalize="off"
          spellCheck={false}
          required
          onChange={(event) => setModel(event.target.value)}
        />
        <Button type="submit">Add</Button>
      </div>
      <details className={css.more}>
        <summary>Revision, access token, mirror</summary>
        <Field label="Revision" hint="main" value={revision} onChange={setRevision} />
        <Field
          label="Access token"
          hint="for private and gated models; not kept"
          value={token}
          onChange={setToken}
          isSecret
        />
        <Field label="Mirror" hint="https://huggingface.co" value={hubUrl} onChange={setHubUrl} />
      </details>
    </form>
  );
}

interface FieldProps {
  label: string;
  hint: string;
  value: string;
  isSecret?: boolean;
  onChange: (value: string) => void;
}

function Field({ label, hint, value, isSecret = false, onChange }: FieldProps) {
  const id = useId();
  return (
    <div className={css.field}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type={isSecret ? "password" : "text"}
        autoComplete="off"
        spellCheck={false}
        value={value}
        placeholder={hint}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  );
}
