import { useId, useState, type ComponentProps } from "react";
import { ChorusError } from "../../../index.ts";
import { readSetting, writeSetting, type SchemaProblem } from "../../state/settings/check-settings.ts";
import { type SettingField, type SettingValue } from "../../state/settings/settings.ts";
import { Button } from "../components/Button.tsx";
import { IconButton } from "../components/IconButton.tsx";
import { directionOf } from "../components/text-direction.ts";
import { classNames } from "../class-names.ts";
import { SLIDERS } from "./setting-sections.ts";
import css from "./SettingsForm.module.css";
import { useSchemaProblem } from "./use-schema-problem.ts";

interface SettingRowProps {
  field: SettingField;
  value: SettingValue | undefined;
  /** The default value. */
  fallback: string;
  /** Why it may have no effect. */
  warning: string | null;
  schemaProblem: SchemaProblem;
  onSet: (value: SettingValue | null) => void;
}

/**
 * One setting. A value takes effect as soon as it is valid; until then the row says which values are. A JSON schema that
 * isn't supported takes effect too: the engine then refuses questions instead of ignoring the schema.
 */
export function SettingRow({ field, value, fallback, warning, schemaProblem, onSet }: SettingRowProps) {
  const id = useId();
  const [typed, setTyped] = useState(writeSetting(value));
  const [unreadable, setUnreadable] = useState<string | null>(null);
  const isSchema = field.kind === "json" && typed.trim() !== "" && unreadable === null;
  const unheld = useSchemaProblem(isSchema ? typed : null, schemaProblem);
  const problem = unreadable ?? unheld;
  const slider = SLIDERS[field.name];

  const type = (text: string) => {
    setTyped(text);
    try {
      onSet(readSetting(field, text));
      setUnreadable(null);
    } catch (error) {
      setUnreadable(error instanceof ChorusError ? error.message : String(error));
    }
  };
  const box = {
    id,
    value: typed,
    placeholder: fallback,
    "aria-describedby": `${id}-help`,
    "aria-invalid": problem !== null,
  };
  return (
    <div className={classNames(css.row, field.kind !== "number" && field.kind !== "flag" && css.wide)}>
      <label htmlFor={id}>{field.label}</label>
      <IconButton
        icon="reset"
        className={css.reset}
        disabled={typed === ""}
        name={`Reset ${field.label.toLowerCase()}`}
        title={`Back to ${fallback}`}
        onClick={() => type("")}
      />
      {field.kind === "json" && typed === "" && (
        <Button look="quiet" className={css.example} onClick={() => type(field.example)}>
          Insert example
        </Button>
      )}
      {field.kind === "flag" ? (
        <Switch {...box} onChange={(event) => type(event.target.value)} />
      ) : field.kind === "number" ? (
        <>
          <input
            {...box}
            inputMode={field.step === 1 ? "numeric" : "decimal"}
            autoComplete="off"
            onChange={(event) => type(event.target.value)}
          />
          {slider && (
            <input
              type="range"
              className={css.slider}
              aria-label={`${field.label}, from ${slider.min} to ${slider.max}`}
              min={slider.min}
              max={slider.max}
              step={field.step}
              value={readNumber(typed) ?? readNumber(fallback) ?? slider.min}
              onChange={(event) => type(event.target.value)}
            />
          )}
        </>
      ) : (
        <textarea
          {...box}
          rows={2}
          dir={field.kind === "json" ? "ltr" : directionOf(typed)}
          className={field.kind === "json" ? css.code : undefined}
          spellCheck={field.kind !== "json"}
          onChange={(event) => type(event.target.value)}
        />
      )}
      <p id={`${id}-help`} className={classNames(css.help, problem !== null && "bad")}>
        {problem ?? field.help}
        {warning && <span className="warn"> {warning}</span>}
      </p>
    </div>
  );
}

function readNumber(text: string): number | null {
  const value = Number.parseFloat(text);
  return Number.isFinite(value) ? value : null;
}

/** On, off, or the inherited value. */
function Switch({ placeholder, ...rest }: ComponentProps<"select"> & { placeholder: string }) {
  return (
    <select {...rest}>
      <option value="">{placeholder}</option>
      <option value="on">on</option>
      <option value="off">off</option>
    </select>
  );
}
