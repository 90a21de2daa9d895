/** Lets a person choose a file, or with `multiple` files, or with `webkitdirectory` those of a folder. */
export function chooseFiles(
  onFiles: (files: readonly File[]) => void,
  options: Partial<Pick<HTMLInputElement, "accept" | "multiple" | "webkitdirectory">> = {},
): void {
  const input = Object.assign(document.createElement("input"), { ...options, type: "file" });
  input.addEventListener("change", () => onFiles([...(input.files ?? [])]));
  input.click();
}
