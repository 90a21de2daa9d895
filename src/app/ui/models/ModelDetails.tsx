import { useId } from "react";
import { WEIGHTS_DTYPES } from "../../../index.ts";
import type { ModelLibrary, LibraryModel } from "../../state/models/model-library.ts";
import { classNames } from "../class-names.ts";
import { DTYPE_WORDS } from "../dtype-words.ts";
import { formatBytes, formatCount } from "../format.ts";
import { Button, Icon } from "../components/Button.tsx";
import { useOnline } from "../use-media.ts";
import { withoutAddresses } from "./without-addresses.ts";

interface ModelDetailsProps {
  library: ModelLibrary;
  model: LibraryModel;
  /** Called with the key of another model, which is in the list now. */
  onAdded: (key: string) => void;
}

/** A model's description, the choice of its weight format, and the memory it needs. */
export function ModelDetails({ library, model, onAdded }: ModelDetailsProps) {
  const name = useId();
  const { key, title, about, estimate, estimateError, isEstimating } = model;
  const problem = estimate?.problem?.message;
  const isOnline = useOnline();
  const dtype = model.dtype ?? estimate?.dtype;
  const options = WEIGHTS_DTYPES.filter((one) => (estimate ? one in estimate.weightBytesByDtype : one !== "stored"));
  return (
    <div className="stack pb-4 pl-9 text-ink-2">
      {about && (
        <p>
          {about.expect} {about.license === null ? "Its page names no licence." : `Licence: ${about.license}.`}
        </p>
      )}
      <fieldset className="grid grid-cols-[repeat(4,minmax(0,144px))] gap-2 max-sm:grid-cols-2">
        <legend className="small pb-1">Weight format</legend>
        {options.map((option) => (
          <label
            key={option}
            className="grid cursor-pointer grid-cols-[auto_minmax(0,1fr)] items-center gap-x-2 rounded-md border border-line-strong px-2.5 py-1.5 has-checked:border-ink has-checked:bg-surface-2 has-focus-visible:outline-2 has-focus-visible:outline-offset-2 has-focus-visible:outline-focus"
          >
            <input
              type="radio"
              className="outline-none"
              name={name}
              checked={dtype === option}
              aria-label={`${title}: ${DTYPE_WORDS[option]}`}
              onChange={() => library.setDtype(key, option)}
            />
            <b>{DTYPE_WORDS[option]}</b>
            {/* As high before it has the figure. */}
            <span className="small col-start-2 min-h-4">
              {estimate ? formatBytes(estimate.weightBytesByDtype[option] ?? 0) : " "}
            </span>
          </label>
        ))}
      </fieldset>
      <OtherDownloads library={library} model={model} onAdded={onAdded} />
      <div className="grid min-h-11 content-start gap-1" aria-live="polite">
        {isEstimating && !estimate && (
          <p>{isOnline ? "Checking memory needed…" : "Offline: waiting for the network…"}</p>
        )}
        {estimateError && <p>Its memory could not be estimated. {withoutAddresses(estimateError.message)}</p>}
        {estimate && (
          <p>
            {formatBytes(estimate.weightBytesByDtype[dtype ?? estimate.dtype] ?? 0)} of weights
            {estimate.mixture && ` (in the file: ${estimate.mixture})`} and {formatBytes(estimate.kvCacheBytes)} of
            cache; context of {formatCount(estimate.contextLength)} tokens.
          </p>
        )}
        {estimate && !isEstimating && (
          <p className={classNames("row", problem ? "items-start text-warn" : "text-good")}>
            <Icon name={problem ? "warn" : "tick"} className={problem && "mt-0.5"} />
            <span className="min-h-0 min-w-0 flex-1">
              {problem ? <b>Would not run here.</b> : "Should run here"} {problem}
            </span>
          </p>
        )}
      </div>
    </div>
  );
}

/** The other downloads of the same model: the files of its GGUF repository, or the way there, and its safetensors. */
function OtherDownloads({ library, model: { choice, about, estimate }, onAdded }: ModelDetailsProps) {
  const { revision, token, hubUrl } = choice;
  const add = (model: string) => {
    const key = library.add(model, { revision, token, hubUrl });
    if (key !== null) onAdded(key);
  };
  const others = estimate?.ggufModels ?? [];
  const best = estimate?.problem ? others.findLast(({ problem }) => problem === null) : undefined;
  if (others.length === 0 && about?.gguf === undefined) return null;
  return (
    <div className="row flex-wrap">
      <span className="small">Other downloads</span>
      {others.map(({ model, quantisation, downloadBytes, problem }) => (
        <Button
          key={model}
          icon={problem ? "warn" : "tick"}
          look={model === best?.model ? "ink" : "outlined"}
          disabled={model === choice.model}
          title={problem ? `Would not run here. ${problem.message}` : "Should run here"}
          onClick={() => add(model)}
        >
          {quantisation ?? model.split("/").at(-1)}, {formatBytes(downloadBytes)}
        </Button>
      ))}
      {about?.gguf !== undefined && about.gguf !== choice.model && (
        <Button onClick={() => add(about.gguf ?? "")}>GGUF, {about.gguf}</Button>
      )}
      {about !== null && about.model !== choice.model && (
        <Button onClick={() => add(about.model)}>
          Safetensors{about.downloadBytes !== null && `, ${formatBytes(about.downloadBytes)}`}
        </Button>
      )}
    </div>
  );
}
