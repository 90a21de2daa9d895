// What forms say of each field: its docstring in its table. It loads with the first form.

import type { ServingField } from "../../state/settings/serving-settings.ts";
import type { SettingName } from "../../state/settings/settings.ts";

type Help = Readonly<Record<string, string>>;

const TABLES = import.meta.glob<Help>(["/src/protocol/config.ts", "/src/app/state/settings/*settings.ts"], {
  query: "?help",
  import: "default",
  eager: true,
});
const CONFIG = TABLES["/src/protocol/config.ts"] ?? {};
const SERVING = TABLES["/src/app/state/settings/serving-settings.ts"] ?? {};
const SETTINGS = TABLES["/src/app/state/settings/settings.ts"] ?? {};

export const settingHelp = (name: SettingName): string => SETTINGS[name] ?? "";

/** The config has the fields of its objects by their own names. */
export function servingHelp({ name, hasOff }: ServingField): string {
  const help = SERVING[name] ?? CONFIG[name.replace(/^.*\./, "")] ?? "";
  return hasOff ? `${help} off: never.` : help;
}
