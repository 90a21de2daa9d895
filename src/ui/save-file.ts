/** Offers a text for saving under a name. */
export function saveFile(name: string, text: string, type: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  // The browser has taken its own hold by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A title as the name of a file: words, no signs that a file system minds. */
export function fileNameOf(title: string): string {
  const words = title.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.join("-").slice(0, 60) || "chat";
}
