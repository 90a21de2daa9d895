import { expect, it } from "vitest";
import { chatMarkdown } from "./export-chats.ts";

it("writes the title, each question as a heading of one line, and its answer", () => {
  const turns = [
    { id: 0, question: "Why?\n  And how?", answer: " Because.\n\n- so\n", end: "stop" as const },
    { id: 1, question: "Sure?", answer: "Yes.", end: "stop" as const },
  ];
  expect(chatMarkdown({ title: null, settings: {}, turns, contextStart: 0, draft: "" })).toBe(
    "# Why? And how?\n\n## Why? And how?\n\nBecause.\n\n- so\n\n## Sure?\n\nYes.\n",
  );
});
