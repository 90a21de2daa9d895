import type { FileChooser, Page } from "playwright/test";

/** Gives files to the choice that a button opens. */
export async function chooseFiles(
  page: Page,
  button: string,
  files: Parameters<FileChooser["setFiles"]>[0],
): Promise<void> {
  const choosing = page.waitForEvent("filechooser");
  await page.getByRole("button", { name: button }).click();
  await (await choosing).setFiles(files);
}
