import { useState } from "react";
import { parseJson, schemaProblem, type ModelCard } from "../../../index.ts";
import { resultOf } from "../../state/error-of.ts";
import { readField, type FieldValue } from "../../state/settings/field.ts";
import { describeValue, writeField } from "../../state/settings/field-text.ts";
import { SETTING_FIELDS, type SettingField, type SettingName, type Settings } from "../../state/settings/settings.ts";
import { More } from "../components/More.tsx";
import { formatCount } from "../format.ts";
import { useLoaded } from "../use-loaded.ts";
import { settingHelp } from "./field-help.ts";
import { FieldRow } from "./FieldRow.tsx";
import { PRESETS, presetOf, withPreset } from "../../state/settings/presets.ts";
import { Button } from "../components/Button.tsx";

/** The sections of the settings but the first ones, each with its fields. */
const SETTING_SECTIONS = SETTING_FIELDS.reduce<[title: string, fields: SettingField[]][]>((sections, field) => {
  if (field.section !== undefined) sections.push([field.section, []]);
  if (!field.isFirst) sections.at(-1)?.[1].push(field);
  return sections;
}, []);

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
    const read = resultOf(() => readField(field, text));
    if (read.error === null) onSet(field.name, read.value);
  };
  const textOf = ({ name }: SettingField) => typed[name] ?? writeField(values[name]);
  const problemOf = (field: SettingField) =>
    resultOf(() => readField(field, textOf(field))).error?.message ?? (field.name === "answer_schema" ? unheld : null);
  const rowOf = (field: SettingField) => {
    const { name, example, modelDefault } = field;
    const from = inherited[name];
    return (
      <FieldRow
        key={name}
        field={field}
        help={settingHelp(name)}
        example={example && JSON.stringify(example, null, 2)}
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
  const isChanged = Object.keys(values).length > 0 || Object.values(typed).some((text) => text !== "");
  return (
    <div className="stack">
      <div className="row justify-between max-sm:gap-1">
        <fieldset className="row gap-1" aria-label="Presets">
          {PRESETS.map((preset) => (
            <Button
              className="max-sm:px-2"
              key={preset.name}
              aria-pressed={preset === presetOf(values)}
              title={preset.help}
              onClick={() => replace(withPreset(values, preset))}
            >
              {preset.name}
            </Button>
          ))}
        </fieldset>
        <Button look="quiet" className="max-sm:px-2" disabled={!isChanged} onClick={() => replace({})}>
          Reset all
        </Button>
      </div>
      {SETTING_FIELDS.filter(({ isFirst }) => isFirst).map(rowOf)}
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

function warningOf(name: SettingName, model: ModelCard): string | null {
  if (name === "max_tokens") {
    return `${model.name} reads ${formatCount(model.contextLength)} tokens in all, the conversation and its answer together.`;
  }
  if (name !== "system" || model.readsSystemPrompt) return null;
  return `${model.name} was trained without system prompts and never sees one.`;
}

/** Resolves with why a JSON schema isn't supported; null if it is, or there is none. The engine checks again before it answers. */
async function problemIn(text: string | null): Promise<string | null> {
  return text === null ? null : schemaProblem(parseJson(text));
}
