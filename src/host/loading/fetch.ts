import { loadGenerationDefaults } from "../../files/generation-config.ts";
import { TOKENIZER_FILE } from "../../files/model-folder.ts";
import { openCheckpoint } from "../../files/open-checkpoint.ts";
import { readTokenizer } from "../../files/tokenizer.ts";
import { checkValues } from "../../models/check-values.ts";
import { describeModel } from "../../models/families.ts";
import { openWeights } from "../../models/model-weights.ts";
import { ChorusError } from "../../protocol/errors.ts";
import type { Platform } from "../platforms/platform.ts";
import { textPortInPlace } from "../text/port-in-place.ts";
import { Texts } from "../text/texts.ts";
import type { DescribedModel } from "./describe.ts";
import type { LoadGuard } from "./load-guard.ts";

/** Embeddings are padded to a multiple of at most this. */
const LARGEST_PADDING = 1024;

export type FetchedModel = Awaited<ReturnType<typeof fetchModel>>;

/**
 * Fetches a model's files and opens its weights. They are checked, and the thread of texts starts, while the device loads them.
 * @param known what makes tokens of its texts, if it was loaded before
 * @throws ChorusError that names the file
 */
export async function fetchModel(
  { configJson, model, frame, drafting, fetchFiles }: DescribedModel,
  platform: Platform,
  known: Texts | null,
  guard: LoadGuard,
) {
  const files = await fetchFiles();
  // All are asked for at once: on a network each takes a round trip.
  const readingDefaults = loadGenerationDefaults(files, model.eosTokenIds);
  const readingSource = readTokenizer(
    files,
    readingDefaults.then(({ eosTokenIds }) => eosTokenIds),
  );
  const openTexts = async () =>
    Texts.open(platform.openTextThread ?? textPortInPlace, { tokenizer: await readingSource, frame });
  const texts = known ? Promise.resolve(known) : guard.keep(openTexts(), (late) => late.dispose());
  const [source, defaults, checkpoint] = await Promise.all([
    readingSource,
    readingDefaults,
    openCheckpoint(files, { isEarly: drafting === null, config: configJson }),
  ]);
  const weights = openWeights(checkpoint, (vocabSize) => describeModel(configJson, vocabSize));
  const { vocabSize } = source.json;
  checkTokenizer(vocabSize, weights.model.shape.vocabSize);
  const checking = guard.keep(checkValues(weights));
  // A model that is refused costs no other's download.
  if (drafting) await Promise.all([texts, checking]);
  const draftWeights = (await drafting?.fetchWeights()) ?? null;
  return { name: files.name, frame, source, defaults, weights, draftWeights, vocabSize, texts, checking };
}

/** Rows of the embedding without a token are padding, if few. A token without a row is none. */
function checkTokenizer(tokens: number, rows: number): void {
  if (tokens <= rows && rows - tokens < LARGEST_PADDING) return;
  const message = `${TOKENIZER_FILE} has ${tokens} tokens, but the model's embedding has ${rows} rows: they are not of the same model.`;
  throw new ChorusError("model_invalid", message, TOKENIZER_FILE);
}
