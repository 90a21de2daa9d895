import { markdownTable } from "./generated-parts.ts";

/** Returns what each kernel computes, in the words that begin its file. @param kernels their texts by their names */
export function kernelTable(kernels: ReadonlyMap<string, string>): string {
  return markdownTable(
    ["kernel", "computes"],
    [...kernels].map(([name, text]) => [`\`${name}\``, wordsOf(text)]),
  );
}

/** Returns the first comment: a formula without the shapes that follow it after some space, or a sentence. */
function wordsOf(text: string): string {
  const comment = /^(?:\/\/ .+\n)+/m.exec(text)?.[0].replaceAll("// ", "") ?? "";
  const formula = /^(.*?) {3,}/.exec(comment)?.[1];
  if (formula !== undefined) return `\`${formula}\``;
  return comment.includes(" = ")
    ? `\`${comment.split("\n")[0] ?? ""}\``
    : `${(comment.split(/\.\s/)[0] ?? "").replaceAll("\n", " ")}.`;
}
