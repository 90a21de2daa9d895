import { classNames } from "../class-names.ts";
import type { ReactNode } from "react";

import {
  EMBEDDED,
  COUNT_NAMES,
  COUNTS,
  SECTION_IDS,
  SECTIONS,
  SEQUENCE_COUNTS,
  WEIGHTS_DTYPES,
  type BenchOptions,
  formatDuration,
  secondsOf,
  MODEL_SIZES,
} from "../../../../lab/index.ts";
import { DTYPE_WORDS } from "../dtype-words.ts";
import { Button } from "../components/Button.tsx";

interface OptionsFormProps {
  readonly options: BenchOptions;
  readonly isDisabled: boolean;
  readonly onChange: (options: BenchOptions) => void;
  readonly onSubmit: () => void;
}

export function OptionsForm({ options, isDisabled, onChange, onSubmit }: OptionsFormProps) {
  const change = (changes: Partial<BenchOptions>) => onChange({ ...options, ...changes });
  const sizes = Object.keys(MODEL_SIZES);
  const isOther = options.model !== EMBEDDED && !sizes.includes(options.model);
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      <fieldset disabled={isDisabled}>
        <legend className="sr-only">Options</legend>
        <Checks
          legend="Sections"
          all={SECTION_IDS}
          chosen={options.sections}
          name={(id) => SECTIONS[id].title}
          beside={(id) => formatDuration(secondsOf(id, options))}
          onChange={(sections) => change({ sections })}
        />
        <Labelled label="Model">
          <select className={BOX} value={options.model} onChange={({ target }) => change({ model: target.value })}>
            <option value={EMBEDDED}>The embedded model</option>
            {isOther && <option value={options.model}>{options.model}</option>}
            <optgroup label="Random weights">
              {sizes.map((size) => (
                <option key={size}>{size}</option>
              ))}
            </optgroup>
          </select>
        </Labelled>
        <Checks
          legend="Concurrent sequences"
          all={SEQUENCE_COUNTS}
          chosen={options.sequences}
          name={String}
          onChange={(sequences) => change({ sequences })}
        />
        <div className="grid grid-cols-[1fr_1fr] gap-x-2 gap-y-0">
          <Labelled label="Weights">
            <select
              className={BOX}
              value={options.dtype ?? ""}
              onChange={({ target }) => change({ dtype: WEIGHTS_DTYPES.find((one) => one === target.value) ?? null })}
            >
              <option value="">Default</option>
              {WEIGHTS_DTYPES.map((dtype) => (
                <option key={dtype} value={dtype}>
                  {DTYPE_WORDS[dtype]}
                </option>
              ))}
            </select>
          </Labelled>
          {COUNT_NAMES.map((name) => (
            <Labelled key={name} label={COUNTS[name].label}>
              <input
                type="number"
                className={BOX}
                min={1}
                max={4096}
                required
                value={options[name]}
                onChange={({ target }) => change({ [name]: Math.max(1, Math.floor(target.valueAsNumber || 1)) })}
              />
            </Labelled>
          ))}
        </div>
        {!isDisabled && options.sections.length > 0 && (
          <p className="mt-4 t-12 text-ink-2">
            About {formatDuration(options.sections.reduce((sum, id) => sum + secondsOf(id, options), 0))} on two CPU
            cores; a GPU takes less.
          </p>
        )}
        {/* In one line, so that Run is in view with all options above it. */}
        <div className="row mt-2 min-h-(--control-h) gap-3">
          <label className="row h-(--icon-h) gap-1.5">
            <input
              type="checkbox"
              checked={options.quick}
              onChange={({ target }) => change({ quick: target.checked })}
            />
            Quick: fewer points
          </label>
          {!isDisabled && (
            <Button look="ink" type="submit" className="flex-1" disabled={options.sections.length === 0}>
              Run
            </Button>
          )}
        </div>
      </fieldset>
    </form>
  );
}

const LABEL = "block pb-1 t-12 font-medium text-ink-2";
const BOX = "w-full disabled:border-line disabled:bg-surface-2 disabled:text-ink-3";

function Labelled({ label, children }: { label: string; children: ReactNode }) {
  return (
    <label className="mt-3 block">
      <span className={LABEL}>{label}</span>
      {children}
    </label>
  );
}

interface ChecksProps<Value> {
  readonly legend: string;
  readonly all: readonly Value[];
  readonly chosen: readonly Value[];
  readonly name: (value: Value) => string;
  /** In a paler ink, after the name. */
  readonly beside?: (value: Value) => string;
  readonly onChange: (chosen: Value[]) => void;
}

function Checks<Value extends string | number>({ legend, all, chosen, name, beside, onChange }: ChecksProps<Value>) {
  return (
    <fieldset className="mt-3 block">
      <legend className={LABEL}>{legend}</legend>
      <div className={beside ? undefined : "row flex-wrap gap-1.5"}>
        {all.map((value) => (
          <label
            key={value}
            className={classNames(
              "row gap-1.5",
              beside ? "h-6 max-sm:h-(--icon-h)" : "h-(--icon-h) rounded-md border border-line-strong px-2",
            )}
          >
            <input
              type="checkbox"
              checked={chosen.includes(value)}
              onChange={({ target }) =>
                onChange(all.filter((one) => (one === value ? target.checked : chosen.includes(one))))
              }
            />
            {name(value)}
            {beside && <span className="small ms-auto">{beside(value)}</span>}
          </label>
        ))}
      </div>
    </fieldset>
  );
}
