import { useState } from "react";
import { writeSetting, type SchemaProblem } from "../../state/settings/check-settings.ts";
import { SETTING_FIELDS, type SettingField, type Settings } from "../../state/settings/settings.ts";
import type { SettingName, SettingValue } from "../../state/settings/settings.ts";
import type { ModelCard } from "../../../index.ts";
import { formatCount } from "../format.ts";
import { PresetRow } from "./PresetRow.tsx";
import { SETTING_SECTIONS } from "./setting-sections.ts";
import { SettingRow } from "./SettingRow.tsx";
import css from "./SettingsForm.module.css";

interface SettingsFormProps {
  values: Settings;
  /** Inherited values, which override the model's defaults. */
  inherited: Settings;
  /** The source of `inherited`: "all panes". */
  source: string;
  model: ModelCard | null;
  schemaProblem: SchemaProblem;
  onSet: (name: SettingName, value: SettingValue | null) => void;
  onReplace: (values: Settings) => void;
}

/** All settings, with help, default values and reset buttons. */
export function SettingsForm({ values, inherited, source, model, schemaProblem, onSet, onReplace }: SettingsFormProps) {
  // Rows keep typed text. A new key makes them read values set elsewhere.
  const [numReplaced, setNumReplaced] = useState(0);
  const replace = (settings: Settings) => {
    onReplace(settings);
    setNumReplaced(numReplaced + 1);
  };
  const fallback = (field: SettingField) => {
    const value = inherited[field.name];
    if (value !== undefined) return `${writeSetting(value)} (${source})`;
    return model === null ? "the model's own" : field.modelDefault(model);
  };
  return (
    <div className="stack">
      <PresetRow values={values} onReplace={replace} />
      {SETTING_SECTIONS.map(([title, names]) => (
        <section key={title} className={css.section} aria-label={title}>
          <h3>{title}</h3>
          {names.flatMap(fieldsOf).map((field) => (
            <SettingRow
              key={`${field.name} ${numReplaced}`}
              field={field}
              value={values[field.name]}
              fallback={fallback(field)}
              schemaProblem={schemaProblem}
              warning={model && warningOf(field.name, model)}
              onSet={(value) => onSet(field.name, value)}
            />
          ))}
        </section>
      ))}
    </div>
  );
}

const fieldsOf = (name: SettingName) => SETTING_FIELDS.filter((field) => field.name === name);

function warningOf(name: SettingName, model: ModelCard): string | null {
  if (name === "max_tokens") {
    return `${model.name} reads ${formatCount(model.contextLength)} tokens in all, the conversation and its answer together.`;
  }
  if (name !== "system" || model.readsSystemPrompt) return null;
  return `${model.name} was trained without system prompts and never sees one.`;
}
