import { ALERT_FIELDS, CONFIG_FIELDS, DRAFT_FIELDS, type ConfigField } from "../../../src/protocol/config.ts";
import { LIVE_FIELDS } from "../../../src/protocol/live-config.ts";
import { markdownTable } from "./generated-parts.ts";
import type { Types } from "./read-types.ts";

const TABLES: Readonly<Record<string, Readonly<Record<string, ConfigField>>>> = {
  EngineConfig: CONFIG_FIELDS,
  NgramSpeculationConfig: DRAFT_FIELDS,
  AlertThresholds: ALERT_FIELDS,
};

export function fieldTable(name: string, { interfaces, aliases }: Types): string {
  const fields = interfaces.get(name);
  if (fields === undefined) throw new Error(`There is no interface ${name} in the types.`);
  const live: readonly string[] = name === "EngineConfig" ? LIVE_FIELDS : [];
  return markdownTable(
    ["field", "type", "default", "unit", "what it does"],
    fields.map((field) => [
      `\`${field.name}\``,
      typeWords(field.type, aliases) + limitWords(TABLES[name]?.[field.name]),
      field.isOptional ? codeIfLiteral(field.defaultText ?? "") : "required",
      field.unit ?? "",
      live.includes(field.name) ? `${field.words} Can change while the engine runs.` : field.words,
    ]),
  );
}

/** ", 1 to 1024"; the largest of all integers is no limit to speak of. */
function limitWords(field?: ConfigField): string {
  if (field === undefined || !("min" in field) || field.min === field.max) return "";
  const isOpen = field.max === Number.MAX_SAFE_INTEGER;
  if (field.above) return `, above ${field.min}${isOpen ? "" : `, at most ${field.max}`}`;
  return isOpen ? `, at least ${field.min}` : `, ${field.min} to ${field.max}`;
}

/** Types as code, with "or" between: a bar would end the cell. null is what is left out, and is not repeated. */
function typeWords(type: string, aliases: Types["aliases"]): string {
  const members = membersOf(type, aliases).filter((member) => member !== "null" && member !== "undefined");
  return members.map((member) => `\`${member}\``).join(", ");
}

function membersOf(type: string, aliases: Types["aliases"]): readonly string[] {
  if (/[({<]/.test(type)) return [type.replaceAll(/\s+/g, " ").replaceAll(" | null", "")];
  const parts = type.split("|").map((part) => part.trim());
  return parts.filter(Boolean).flatMap((part) => {
    const meaning = aliases.get(part);
    // Choices are spelled out. What else has a name keeps it.
    return meaning !== undefined && /^["\w]/.test(meaning) && meaning.includes('"')
      ? membersOf(meaning, aliases)
      : [part];
  });
}

/** A default that can be written so in code is set as code. */
function codeIfLiteral(text: string): string {
  return /^(?:"[^"]*"|-?[\d.]+|true|false|null)$/.test(text) ? `\`${text}\`` : text;
}
