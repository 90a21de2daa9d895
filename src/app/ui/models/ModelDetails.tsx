import { useId } from "react";
import { WEIGHTS_DTYPES } from "../../../index.ts";
import type { ModelShelf, ShelfModel } from "../../state/models/model-shelf.ts";
import { DTYPE_WORDS } from "../dtype-words.ts";
import { formatBytes, formatCount } from "../format.ts";
import { Button } from "../components/Button.tsx";
import { Icon } from "../components/Icon.tsx";
import { useOnline } from "../use-media.ts";
import { withoutAddresses } from "./without-addresses.ts";
import css from "./ModelDetails.module.css";

interface ModelDetailsProps {
  shelf: ModelShelf;
  model: ShelfModel;
  /** Called with the key of another model, which is in the list now. */
  onAdded: (key: string) => void;
}

/** A model's description, the choice of its weight format, and the memory it needs. */
export function ModelDetails({ shelf, model, onAdded }: ModelDetailsProps) {
  const name = useId();
  const { key, title, about, estimate, estimateError, isEstimating } = model;
  const isOnline = useOnline();
  const dtype = model.dtype ?? estimate?.dtype;
  const options = WEIGHTS_DTYPES.filter((one) => (estimate ? one in estimate.weightBytesByDtype : one !== "stored"));
  return (
    <div className={css.details}>
      {about && (
        <p>
          {about.expect} {about.license === null ? "Its page names no licence." : `Licence: ${about.license}.`}
        </p>
      )}
      <fieldset className={css.dtypes}>
        <legend className="small">Weight format</legend>
        {options.map((option) => (
          <label key={option}>
            <input
              type="radio"
              name={name}
              checked={dtype === option}
              aria-label={`${title}: ${DTYPE_WORDS[option]}`}
              onChange={() => shelf.setDtype(key, option)}
            />
            <b>{DTYPE_WORDS[option]}</b>
            <span className="small">{estimate ? formatBytes(estimate.weightBytesByDtype[option] ?? 0) : " "}</span>
          </label>
        ))}
      </fieldset>
      <OtherDownloads shelf={shelf} model={model} onAdded={onAdded} />
      <div className={css.takes} aria-live="polite">
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
        {estimate && !isEstimating && <Verdict problem={estimate.problem?.message ?? null} />}
      </div>
    </div>
  );
}

/** The other downloads of the same model: the files of its GGUF repository, or the way there, and its safetensors. */
function OtherDownloads({ shelf, model: { choice, about, estimate }, onAdded }: ModelDetailsProps) {
  const { revision, token, hubUrl } = choice;
  const add = (model: string) => {
    const key = shelf.add(model, { revision, token, hubUrl });
    if (key !== null) onAdded(key);
  };
  const others = estimate?.ggufModels ?? [];
  const best = estimate?.problem ? others.findLast(({ problem }) => problem === null) : undefined;
  if (others.length === 0 && about?.gguf === undefined) return null;
  return (
    <div className="row wrap">
      <span className="small">Other downloads</span>
      {others.map(({ model, quantisation, downloadBytes, problem }) => (
        <Button
          key={model}
          look={model === best?.model ? "ink" : "outlined"}
          disabled={model === choice.model}
          title={problem ? `Would not run here. ${problem.message}` : "Should run here"}
          onClick={() => add(model)}
        >
          <Icon name={problem ? "warn" : "tick"} />
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

function Verdict({ problem }: { problem: string | null }) {
  if (problem === null) {
    return (
      <p className="row good">
        <Icon name="tick" />
        Should run here
      </p>
    );
  }
  return (
    <p className="row top warn">
      <Icon name="warn" />
      <span className="grow">
        <b>Would not run here.</b> {problem}
      </span>
    </p>
  );
}
