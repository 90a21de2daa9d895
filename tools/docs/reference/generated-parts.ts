// Parts of a document that are made from the code. They stand between two comments:
//
//   <!-- made from the types: EngineConfig -->
//   ...
//   <!-- end -->

/** Returns the document with each such part made by `make`, which gets the words after "made from ". */
export function withGeneratedParts(document: string, make: (what: string) => string): string {
  return document.replaceAll(
    /(<!-- made from (.+?) -->\n)[^]*?(<!-- end -->)/g,
    (_, begin: string, what: string, end: string) => `${begin}\n${make(what).trim()}\n\n${end}`,
  );
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}
