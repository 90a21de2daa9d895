import { useId, useRef, type FormEvent } from "react";
import type { ModelLibrary } from "../../state/models/model-library.ts";
import { Button } from "../components/Button.tsx";
import { textsOf } from "../texts-of.ts";

/** What few models need, by the hub's options. */
const HUB_FIELDS = [
  { name: "revision", label: "Revision", hint: "main" },
  { name: "token", label: "Access token", hint: "for private and gated models; not kept", type: "password" },
  { name: "hubUrl", label: "Mirror", hint: "https://huggingface.co" },
];

/** Opens the token's field, and takes the reader there. */
export function focusToken(): void {
  const field = document.querySelector<HTMLInputElement>('details input[name="token"]');
  field?.closest("details")?.setAttribute("open", "");
  field?.focus();
}

/** Adds a model by its hub name or its folder's address. @param onAdded gets its key while it is looked up */
export function AddModel({ library, onAdded }: { library: ModelLibrary; onAdded: (key: string) => void }) {
  const id = useId();
  const box = useRef<HTMLInputElement>(null);
  const add = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const { model = "", ...typed } = textsOf(event.currentTarget);
    const hub = Object.fromEntries(Object.entries(typed).filter(([, text]) => text !== ""));
    const key = library.add(model, hub, () => {
      if (box.current?.value === model) box.current.value = "";
    });
    if (key !== null) onAdded(key);
  };
  return (
    <form className="stack content-start gap-2" onSubmit={add}>
      <label className="font-semibold" htmlFor={id}>
        Add by hub name or address
      </label>
      <div className="row">
        <input
          ref={box}
          className="flex-1"
          id={id}
          name="model"
          placeholder="owner/name, owner/name:Q4_K_M or https://…"
          autoCapitalize="off"
          spellCheck={false}
          required
        />
        <Button type="submit">Add</Button>
      </div>
      <details>
        <summary className="t-12 text-ink-2">Revision, access token, mirror</summary>
        {HUB_FIELDS.map(({ name, label, hint, type }) => (
          <label key={name} className="mt-2 grid grid-cols-[92px_minmax(0,1fr)] items-center t-12">
            {label}
            <input name={name} type={type} autoComplete="off" spellCheck={false} placeholder={hint} />
          </label>
        ))}
      </details>
    </form>
  );
}
