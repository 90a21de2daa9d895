import { resolveEngineConfig } from "../../api/engine-config.ts";
import type { OpenedBackend } from "../../backends/backend.ts";
import type { Model } from "../../models/model.ts";
import { dtypesOf, mixtureOf } from "../../models/weight-layouts.ts";
import type { EngineConfig, ResolvedEngineConfig, WeightsDtype } from "../../protocol/config.ts";
import { ChorusError } from "../../protocol/errors.ts";

/**
 * Checks a caller's config and fills in the defaults for a model. Weights that are packed stay so unless the config says
 * otherwise.
 * @throws ChorusError as resolveEngineConfig does; invalid_value of a dtype that the model can't have
 */
export function configFor(
  model: Model,
  config: EngineConfig,
  backend: Pick<OpenedBackend, "defaults"> | null,
  draftModel: Model | null = null,
): ResolvedEngineConfig {
  const mixture = mixtureOf(model);
  const defaults = { ...backend?.defaults(model), ...(mixture !== null && { dtype: "stored" as const }) };
  const resolved = resolveEngineConfig(config, model.shape, defaults, draftModel?.shape);
  const { dtype } = resolved;
  const known = dtypesOf(model);
  if (known.includes(dtype)) return resolved;
  const why = mixture === null ? "are plain floats" : `are packed already (${mixture})`;
  const instead = known.map((one) => `"${one}"`).join(", ");
  const message = `dtype is "${dtype}", but this model's weights ${why}: leave it out, or use one of ${instead}.`;
  throw new ChorusError("invalid_value", message, "dtype");
}

/** Returns the format in which a draft model is kept beside a model: as its file has it if that is packed, else the same. */
export function draftDtype(draftModel: Model, dtype: WeightsDtype): WeightsDtype {
  const known = dtypesOf(draftModel);
  if (known.includes("stored")) return "stored";
  return known.includes(dtype) ? dtype : "f16";
}
