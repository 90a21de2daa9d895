import type { CatalogueEntry } from "../../../src/protocol/catalogue.ts";
import { markdownTable } from "./generated-parts.ts";

export function catalogueTable(models: readonly CatalogueEntry[]): string {
  return markdownTable(
    ["model", "parameters", "file", "GGUF", "kind", "licence", "what to expect"],
    models.map(({ model, numParameters, downloadBytes, gguf, ggufBytes, kind, license, expect }) => [
      `\`${model}\``,
      numParameters === null ? "" : `${Math.round(numParameters / 1e6).toLocaleString("en")}M`,
      downloadBytes === null ? "" : `${Math.round(downloadBytes / 1e6).toLocaleString("en")} MB`,
      gguf === undefined
        ? ""
        : `\`${gguf}\`${ggufBytes === undefined ? "" : `, ${Math.round(ggufBytes / 1e6).toLocaleString("en")} MB`}`,
      kind,
      license ?? "not named",
      expect,
    ]),
  );
}
