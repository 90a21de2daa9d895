import { expect, it } from "vitest";
import { openPanes } from "../../../../tests/app/open-panes.ts";
import { attachText, isExport } from "./attached-text.ts";

async function openPane(contextLength: number) {
  const { control, openPane: open } = openPanes({ model: { contextLength } });
  await control.start();
  return open(1);
}
const words = (count: number) => Array.from({ length: count }, (_, i) => `w${i}`).join(" ");
const draftOf = (pane: Awaited<ReturnType<typeof openPane>>) => pane.store.getState().draft;

it("a file's text stands behind the draft, with its name, in a fence that its own fences do not end", async () => {
  const pane = await openPane(1000);
  pane.setDraft("What is this? ");
  await attachText(pane, new File(["a\r\n````\nb\n"], "notes.md"));
  expect(draftOf(pane)).toBe("What is this?\n\nnotes.md:\n`````md\na\n````\nb\n`````\n\n");
});

it("what the context has no room for is cut, and the draft says so", async () => {
  const pane = await openPane(200);
  const text = words(1000);
  const { numTokens, cut } = await attachText(pane, new File([text], "book.txt"));
  const [, part = ""] = /^book\.txt:\n```\n(.*)\n```\n/.exec(draftOf(pane)) ?? [];
  expect(text.startsWith(part)).toBe(true);
  // Half of the context is for the answer, 40 tokens are the template's.
  expect(part.split(" ").length).toBeGreaterThan(40);
  expect(part.split(" ").length).toBeLessThanOrEqual(60);
  expect(cut).toBe(`the first ${part.length} of ${text.length.toLocaleString("en")} characters`);
  expect(numTokens).toBe(part.trim().split(" ").length);
  expect(draftOf(pane)).toContain(`${cut} of book.txt`);
});

it("a file of exported chats is known by its beginning", async () => {
  expect(await isExport(new File([`{\n  "app": "chorus"`], "chats.json"))).toBe(true);
  expect(await isExport(new File([`{ "apps": "chorus" }`], "chats.json"))).toBe(false);
});

it.each([
  ["no text", new File([new Uint8Array([0x89, 0x50, 0xff, 0])], "a.png"), "a.png is not a text file"],
  ["zeros", new File(["a\0b"], "a.bin"), "a.bin is not a text file"],
  ["nothing", new File([" \n"], "a.txt"), "a.txt is empty"],
  ["too much", new File([new Uint8Array(5 * 2 ** 20)], "a.txt"), "a.txt has 5 MB; at most 4 MB"],
])("%s is refused in a sentence, and the draft stays", async (_, file, message) => {
  const pane = await openPane(1000);
  pane.setDraft("mine");
  await expect(attachText(pane, file)).rejects.toMatchObject({
    code: "invalid_value",
    message: expect.stringContaining(message),
  });
  expect(draftOf(pane)).toBe("mine");
});

it("is refused where the model has no room for it", async () => {
  const pane = await openPane(100);
  await expect(attachText(pane, new File(["a"], "a.txt"))).rejects.toThrow("The model reads 100 tokens in all");
});
