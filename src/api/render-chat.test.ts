import { expect, test } from "vitest";
import { loadChorusTokenizer } from "../../tests/requests/request-context.ts";
import { createChatFormat } from "./chat-format.ts";
import { renderChat } from "./chat-request.ts";

const tokenizer = await loadChorusTokenizer();
const render = (body: unknown, format = createChatFormat(tokenizer)) => renderChat(body, format, tokenizer);

test("the text is what the tokens say, control tokens by their names, and characters of several tokens whole", () => {
  const messages = [{ role: "user", content: "Where do 🦑 live? <|endoftext|>" }];
  const { text, tokenIds } = render({ messages });
  expect(text).toContain("Where do 🦑 live? <|endoftext|>");
  expect(tokenIds).toEqual(
    createChatFormat(tokenizer).open([{ role: "user", content: messages[0]?.content ?? "" }]).tokenIds,
  );
  const controls = tokenIds.filter((id) => tokenizer.tokenBytes(id).length === 0);
  expect(controls.length).toBeGreaterThan(0);
  for (const id of controls) expect(text).toContain(tokenizer.tokenText(id));
});

test("a model without a template is given a dialogue", () => {
  const base = createChatFormat({ ...plain(), chatTemplate: null, toolTemplate: null });
  const messages = [
    { role: "user", content: "Hi" },
    { role: "assistant", content: "Hello" },
  ];
  expect(render({ messages }, base).text).toBe("User: Hi\nAssistant: Hello\nAssistant:");
  expect(render({ messages, continue_final_message: true }, base).text).toBe("User: Hi\nAssistant: Hello");
});

test("the body is checked, and what is no part of a prompt is refused", () => {
  expect(() => render({ messages: [] })).toThrow("messages is empty");
  expect(() => render({ messages: [{ role: "user", content: "Hi" }], temperature: 0 })).toThrow("temperature");
  expect(() => render({ messages: [{ role: "robot", content: "Hi" }] })).toThrow("messages[0].role");
});

function plain() {
  return {
    namedTokens: tokenizer.namedTokens,
    controlTokens: tokenizer.controlTokens,
    splitControlTokens: (text: string) => tokenizer.splitControlTokens(text),
    encodePlain: (text: string) => tokenizer.encodePlain(text),
    specialTokens: tokenizer.specialTokens,
  };
}
