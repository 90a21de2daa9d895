import { useState } from "react";
import { parseJson, schemaProblem, toErrorData, type ModelCard } from "../../../index.ts";
import { describeValue, readField, writeField, type FieldValue } from "../../state/settings/field.ts";
import {
  FIRST_FIELDS,
  SETTING_FIELDS,
  SETTING_SECTIONS,
  type SettingField,
  type SettingName,
  type Settings,
} from "../../state/settings/settings.ts";
import { SETTINGS_EXAMPLES, SETTINGS_HELP } from "../../state/settings/settings-help.ts";
import { More } from "../components/More.tsx";
import { formatCount } from "../format.ts";
import { useLoaded } from "../use-loaded.ts";
import { FieldRow } from "./FieldRow.tsx";
import { PRESETS, presetOf, withPreset } from "../../state/settings/presets.ts";
import { Button } from "../components/Button.tsx";

interface SettingsFormProps {
  values: Settings;
  /** Inherited values, which override the model's defaults. */
  inherited: Settings;
  /** The source of `inherited`: "all panes". */
  source: string;
  model: ModelCard | null;
  onSet: (name: SettingName, value: FieldValue | null) => void;
  onReplace: (values: Settings) => void;
}

/**
 * All settings. A value takes effect as soon as it is valid; until then its row says which values are. A JSON schema that isn't
 * supported takes effect too: the engine then refuses questions instead of ignoring the schema.
 */
export function SettingsForm({ values, inherited, source, model, onSet, onReplace }: SettingsFormProps) {
  /** The texts as they were typed. Those that can't be read are not among the values. */
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const unheld = useLoaded(values.answer_schema ?? null, problemIn);
  const replace = (settings: Settings) => {
    onReplace(settings);
    setTyped({});
  };
  const type = (field: SettingField, text: string) => {
    setTyped({ ...typed, [field.name]: text });
    const { value, problem } = read(field, text);
    if (problem === null) onSet(field.name, value);
  };
  const textOf = ({ name }: SettingField) => typed[name] ?? writeField(values[name]);
  const problemOf = (field: SettingField) =>
    read(field, textOf(field)).problem ?? (field.name === "answer_schema" ? unheld : null);
  const rowOf = (field: SettingField) => {
    const { name, modelDefault } = field;
    const from = inherited[name];
    return (
      <FieldRow
        key={name}
        field={field}
        help={SETTINGS_HELP[name]}
        example={SETTINGS_EXAMPLES[name]}
        text={textOf(field)}
        fallback={from !== undefined ? describeValue(field, from) : model ? modelDefault(model) : "the model's own"}
        source={from === undefined ? null : source}
        problem={problemOf(field)}
        note={<span className="text-warn">{model && warningOf(name, model)}</span>}
        onType={(next) => type(field, next)}
      />
    );
  };
  const others = SETTING_FIELDS.filter((field) => !field.isFirst && textOf(field) !== "");
  const numWrong = others.filter((field) => problemOf(field) !== null).length;
  const numSet = others.length - numWrong;
  return (
    <div className="stack">
      <PresetRow
        values={values}
        isChanged={Object.keys(values).length > 0 || Object.values(typed).some((text) => text !== "")}
        onReplace={replace}
      />
      {FIRST_FIELDS.map(rowOf)}
      <More
        topic="settings"
        note={
          <>
            {numSet > 0 && `${numSet} set`} {numWrong > 0 && <b>{numWrong} not valid</b>}
          </>
        }
      >
        <div className="stack">
          {SETTING_SECTIONS.map(([title, fields]) => (
            <section key={title} className="section stack" aria-label={title}>
              <h3 className="t-12 font-semibold text-ink-3">{title}</h3>
              {fields.map(rowOf)}
            </section>
          ))}
        </div>
      </More>
    </div>
  );
}

function read(field: SettingField, text: string): { value: FieldValue | null; problem: string | null } {
  try {
    return { value: readField(field, text), problem: null };
  } catch (error) {
    return { value: null, problem: toErrorData(error).message };
  }
}

function warningOf(name: SettingName, model: ModelCard): string | null {
  if (name === "max_tokens") {
    return `${model.name} reads ${formatCount(model.contextLength)} tokens in all, the conversation and its answer together.`;
  }
  if (name !== "system" || model.readsSystemPrompt) return null;
  return `${model.name} was trained without system prompts and never sees one.`;
}

interface PresetRowProps {
  values: Settings;
  /** Whether there is something to reset: texts that can't be read are no values. */
  isChanged: boolean;
  onReplace: (values: Settings) => void;
}

/** Sampling presets, and the button that resets all settings. */
function PresetRow({ values, isChanged, onReplace }: PresetRowProps) {
  const chosen = presetOf(values);
  return (
    <div className="row justify-between max-sm:gap-1">
      <fieldset className="row gap-1" aria-label="Presets">
        {PRESETS.map((preset) => (
          <Button
            className="max-sm:px-2"
            key={preset.name}
            aria-pressed={preset === chosen}
            title={preset.help}
            onClick={() => onReplace(withPreset(values, preset))}
          >
            {preset.name}
          </Button>
        ))}
      </fieldset>
      <Button look="quiet" className="max-sm:px-2" disabled={!isChanged} onClick={() => onReplace({})}>
        Reset all
      </Button>
    </div>
  );
}

/** Resolves with why a JSON schema isn't supported; null if it is, or there is none. The engine checks again before it answers. */
async function problemIn(text: string | null): Promise<string | null> {
  return text === null ? null : schemaProblem(parseJson(text));
}
