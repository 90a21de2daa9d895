export function saveFile(name: string, text: string, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  // By then the browser holds its own reference.
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Returns a title as a file name, without characters that file systems forbid. */
export function fileNameOf(title: string): string {
  const words = title.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.join("-").slice(0, 60) || "chat";
}
