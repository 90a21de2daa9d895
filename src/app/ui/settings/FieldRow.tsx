import { useId, type ChangeEvent, type ReactNode } from "react";
import type { Field } from "../../state/settings/field.ts";
import { optionsOf } from "../../state/settings/field-text.ts";
import { classNames } from "../class-names.ts";
import { Button, IconButton } from "../components/Button.tsx";
import { directionOf } from "../components/text-direction.ts";

interface FieldRowProps {
  field: Field;
  help: string;
  /** A text that "Insert example" inserts. [no such button] */
  example?: string | undefined;
  text: string;
  /** The value that counts where the box is empty, in words. */
  fallback: string;
  /** Where it is inherited from; null: it is the default. */
  source: string | null;
  /** Why the text is refused. */
  problem: string | null;
  /** After the help. */
  note: ReactNode;
  onType: (text: string) => void;
}

/** One setting: its box, its help, and the button that empties the box. */
export function FieldRow({ field, help, example, text, fallback, source, problem, note, onType }: FieldRowProps) {
  const id = useId();
  const { kind, label, unit } = field;
  const shownFallback = source === null ? fallback : `${fallback} (${source})`;
  const box = {
    id,
    value: text,
    placeholder: shownFallback,
    "aria-describedby": `${id}-help`,
    "aria-invalid": problem !== null,
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>) =>
      onType(event.target.value),
  };
  const options = optionsOf(field);
  const isLong = kind === "lines" || kind === "json" || (kind === "text" && field.isLong);
  const slider = kind === "number" ? field.slider : undefined;
  return (
    <div className="grid grid-cols-[minmax(0,1fr)_var(--box-width,150px)_var(--icon-h)] items-center gap-x-1 max-sm:grid-cols-[minmax(0,1fr)_var(--box-width,130px)_var(--icon-h)]">
      <label htmlFor={id} className="font-medium">
        {label}
        {unit !== undefined && <span className="small"> {unit}</span>}
      </label>
      <IconButton
        icon="reset"
        className="[grid-area:1/3] disabled:invisible"
        disabled={text === ""}
        name={`Reset ${label.toLowerCase()}`}
        title={`Back to ${shownFallback}`}
        onClick={() => onType("")}
      />
      {example !== undefined && text === "" && (
        <Button
          look="quiet"
          className="h-(--icon-h) justify-self-end [grid-area:1/2/2/4]"
          aria-label={`Insert example: ${label}`}
          onClick={() => onType(example)}
        >
          Insert example
        </Button>
      )}
      {options ? (
        <select {...box} className="w-full [grid-area:1/2]">
          <option value="">{source === null ? `Default (${fallback})` : shownFallback}</option>
          {options.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      ) : isLong ? (
        <textarea
          {...box}
          rows={2}
          dir={kind === "json" ? "ltr" : directionOf(text)}
          className={classNames(
            "mt-0.5 w-full [grid-area:2/1/3/4]",
            kind === "json" && "[font:400_12px/18px_var(--mono)]",
          )}
          spellCheck={kind !== "json"}
        />
      ) : (
        <input
          {...box}
          className={classNames("w-full", kind === "text" ? "[grid-area:2/1/3/3]" : "[grid-area:1/2]")}
          autoComplete="off"
          spellCheck={false}
          inputMode={field.hasOff ? "text" : kind === "integer" ? "numeric" : kind === "number" ? "decimal" : "text"}
        />
      )}
      {slider && (
        <input
          type="range"
          className="h-6 w-full [grid-area:2/1/3/4]"
          aria-label={`${label}, from ${slider[0]} to ${slider[1]}`}
          min={slider[0]}
          max={slider[1]}
          step={slider[2]}
          value={readNumber(text) ?? readNumber(fallback) ?? slider[0]}
          onChange={box.onChange}
        />
      )}
      <p
        id={`${id}-help`}
        className={classNames("small col-[1/3]", isLong ? "mt-0.5" : "mt-(--help-gap)", problem !== null && "text-bad")}
      >
        {problem ?? help} {note}
      </p>
    </div>
  );
}

function readNumber(text: string): number | null {
  const value = Number.parseFloat(text);
  return Number.isFinite(value) ? value : null;
}
