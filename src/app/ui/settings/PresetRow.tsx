import { PRESETS, presetOf, withPreset } from "../../state/settings/presets.ts";
import type { Settings } from "../../state/settings/settings.ts";
import { Button } from "../components/Button.tsx";

interface PresetRowProps {
  values: Settings;
  /** Whether there is something to reset: texts that can't be read are no values. */
  isChanged: boolean;
  onReplace: (values: Settings) => void;
}

/** Sampling presets, and the button that resets all settings. */
export function PresetRow({ values, isChanged, onReplace }: PresetRowProps) {
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
