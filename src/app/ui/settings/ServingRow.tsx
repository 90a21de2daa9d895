import { useId, type ChangeEvent } from "react";
import { defaultTextOf, type ServingField } from "../../state/settings/serving-fields.ts";
import type { ChorusEngine } from "../../../index.ts";
import { classNames } from "../class-names.ts";
import { IconButton } from "../components/IconButton.tsx";
import css from "./SettingsForm.module.css";

interface ServingRowProps {
  field: ServingField;
  typed: string;
  /** Null if none runs. */
  engine: Pick<ChorusEngine, "model" | "sizes"> | null;
  /** Why the typed value is refused. */
  problem: string | null;
  onType: (text: string) => void;
}

/** One serving setting. A typed value is applied with all others. */
export function ServingRow({ field, typed, engine, problem, onType }: ServingRowProps) {
  const id = useId();
  const defaultText = defaultTextOf(field, engine?.model ?? null);
  const box = {
    id,
    value: typed,
    "aria-describedby": `${id}-help`,
    "aria-invalid": problem !== null,
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLSelectElement>) => onType(event.target.value),
  };
  const options = optionsOf(field);
  return (
    <div className={classNames(css.row, css.broad, field.kind === "text" && css.below)}>
      <label htmlFor={id}>
        {field.label}
        {field.unit !== undefined && <span className="small"> {field.unit}</span>}
      </label>
      <IconButton
        icon="reset"
        className={css.reset}
        disabled={typed === ""}
        name={`Reset ${field.label.toLowerCase()}`}
        title={`Back to ${defaultText}`}
        onClick={() => onType("")}
      />
      {options === null ? (
        <input
          {...box}
          placeholder={defaultText}
          autoComplete="off"
          spellCheck={false}
          inputMode={
            field.hasOff ? "text" : field.kind === "integer" ? "numeric" : field.kind === "number" ? "decimal" : "text"
          }
        />
      ) : (
        <select {...box}>
          <option value="">{defaultText} (default)</option>
          {options.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
      )}
      <p id={`${id}-help`} className={classNames(css.help, problem !== null && "bad")}>
        {problem ?? `${field.help} ${effectOf(field, engine)}`}
      </p>
    </div>
  );
}

/** Describes the effect of a change of this field alone. */
function effectOf({ takesEffect, name }: ServingField, engine: ServingRowProps["engine"]): string {
  if (takesEffect === "live") return "Applied at once.";
  if (takesEffect === "restart") return "Restarts the engine; chats are kept.";
  const most = name === "maxNumSeqs" || name === "maxNumBatchedTokens" ? engine?.sizes[name] : undefined;
  return most === undefined
    ? "Applied at once if the engine was loaded with room for it; else it restarts, and chats are kept."
    : `Applied at once up to ${most}; more restarts the engine, and chats are kept.`;
}

/** Returns the options of a field; null if its value is typed. */
function optionsOf(field: ServingField): readonly (readonly [value: string, name: string])[] | null {
  if (field.kind === "choice") return field.choices.map((choice) => [choice, field.names?.[choice] ?? choice]);
  return field.kind === "flag"
    ? [
        ["true", "on"],
        ["false", "off"],
      ]
    : null;
}
