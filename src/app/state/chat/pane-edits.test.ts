// Actions on a chat besides asking: regenerating, edits, settings, clearing, reloading.

import { describe, expect, it } from "vitest";
import { lastTurn, openPanes } from "../../../../tests/app/open-panes.ts";

describe("an answer once more", () => {
  const count = { answer: () => "a b c d e f g h" };

  it("takes the place of the old one, which stays as a variant", async () => {
    let times = 0;
    const { control, first, step, openPane } = openPanes({ answer: () => `Try ${++times}` });
    await control.start();
    const pane = openPane(1);
    pane.send("Go.");
    await step(2);
    pane.regenerate();
    await step(2);
    const variants = () => pane.store.getState();
    expect(variants().turns).toMatchObject([{ question: "Go.", answer: "Try 2", end: "stop" }]);
    expect(variants().inactiveTurns).toMatchObject([{ question: "Go.", answer: "Try 1", end: "stop", after: null }]);
    expect(first.accepted.at(-1)?.messages).toEqual([{ role: "user", content: "Go." }]);
    const [second] = variants().turns;
    pane.chooseTurn(variants().inactiveTurns[0]!.id);
    expect(variants()).toMatchObject({ turns: [{ answer: "Try 1" }], inactiveTurns: [{ answer: "Try 2" }] });
    pane.chooseTurn(second!.id);
    expect(variants()).toMatchObject({ turns: [second], inactiveTurns: [{ answer: "Try 1" }] });
  });

  it("continues where the length limit ended it", async () => {
    const { control, first, announcements, step, openPane } = openPanes(count);
    await control.start();
    const pane = openPane(1);
    pane.set("max_tokens", 3);
    pane.send("Count.");
    await step(3);
    expect(lastTurn(pane)).toMatchObject({ answer: "a b c", end: "length" });
    pane.set("max_tokens", null);
    pane.continueAnswer();
    await step(5);
    expect(first.accepted.at(-1)).toMatchObject({
      continue_final_message: true,
      messages: [{ content: "Count." }, { role: "assistant", content: "a b c" }],
      // Exactly as it was generated: its text might become other tokens.
      final_message_token_ids: [0, 0, 0],
    });
    expect(pane.store.getState().turns).toHaveLength(1);
    expect(lastTurn(pane)).toMatchObject({ answer: "a b c d e f g h", end: "stop" });
    expect(announcements.store.getState().at(-1)?.text).toBe("Pane 1:  d e f g h");
    // It is whole now.
    pane.continueAnswer();
    expect(pane.store.getState().phase).toBe("idle");
  });

  it("is the old one still where the new one is stopped before its first word, or refused", async () => {
    const { control, step, openPane } = openPanes({ ...count, model: { contextLength: 9 } });
    await control.start();
    const pane = openPane(1);
    pane.send("Count.");
    await step(8);
    const before = pane.store.getState().turns;
    pane.regenerate();
    expect(lastTurn(pane)?.answer).toBe("");
    expect(pane.toSaved().turns).toEqual(before);
    pane.stop();
    expect(pane.store.getState()).toMatchObject({ phase: "idle", turns: before, draft: "" });
    pane.set("system", "one two three four five six seven eight nine");
    pane.regenerate();
    await step();
    expect(pane.store.getState()).toMatchObject({ phase: "idle", turns: before, note: { isUnsent: true } });
  });
});

describe("an edited question", () => {
  it("is asked with what stood before it, and what followed it is in the variant", async () => {
    const { control, first, step, openPane } = openPanes();
    await control.start();
    const pane = openPane(1);
    for (const question of ["One?", "Two?", "Three?"]) {
      pane.send(question);
      await step();
    }
    expect(pane.edit(pane.store.getState().turns[1]!.id, " Deux? ")).toBe(true);
    await step();
    expect(pane.store.getState().turns.map(({ question }) => question)).toEqual(["One?", "Deux?"]);
    expect(first.accepted.at(-1)?.messages.map(({ content }) => content)).toEqual(["One?", "Yes.", "Deux?"]);
    pane.chooseTurn(pane.store.getState().inactiveTurns[0]!.id);
    expect(pane.store.getState().turns.map(({ question }) => question)).toEqual(["One?", "Two?", "Three?"]);
    pane.send("Four?");
    await step();
    expect(first.accepted.at(-1)?.messages.map(({ content }) => content)).toEqual([
      "One?",
      "Yes.",
      "Two?",
      "Yes.",
      "Three?",
      "Yes.",
      "Four?",
    ]);
  });

  it("that is refused changes nothing, and is in the composer", async () => {
    const { control, step, openPane } = openPanes({ model: { contextLength: 10 } });
    await control.start();
    const pane = openPane(1);
    pane.send("One?");
    await step();
    pane.send("Two?");
    await step();
    const before = pane.store.getState().turns;
    pane.edit(before[0]!.id, "much too long ".repeat(5));
    await step();
    const draft = "much too long ".repeat(5).trim();
    expect(pane.store.getState()).toMatchObject({ turns: before, inactiveTurns: [], draft });
  });
});

describe("settings", () => {
  it("are the pane's own before those of all panes, and the system prompt comes first", async () => {
    const { control, settings, first, step, openPane } = openPanes();
    await control.start();
    const pane = openPane(1);
    settings.setState({ temperature: 0.5 });
    settings.setState({ top_k: 7 });
    pane.set("temperature", 0);
    pane.set("system", "Be brief.");
    pane.set("stop", ["END"]);
    pane.send("Hi");
    await step();
    expect(first.accepted.at(-1)).toMatchObject({
      temperature: 0,
      top_k: 7,
      stop: ["END"],
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" },
      ],
    });
    pane.set("temperature", null);
    pane.send("Hi");
    await step();
    expect(first.accepted.at(-1)).toMatchObject({ temperature: 0.5 });
  });
});

describe("variants", () => {
  it("can't be changed while an answer is in progress, and the one chosen is what is saved", async () => {
    const { control, step, openPane } = openPanes({ answer: () => "a b" });
    await control.start();
    const pane = openPane(1);
    pane.send("Go.");
    await step(2);
    const { id } = lastTurn(pane)!;
    pane.regenerate();
    await step();
    pane.chooseTurn(id);
    expect(lastTurn(pane)).toMatchObject({ answer: "a", end: null });
    expect(pane.toSaved().inactiveTurns).toMatchObject([{ id, answer: "a b", after: null }]);
    const reopened = openPane(2, pane.toSaved());
    expect(lastTurn(reopened)).toMatchObject({ answer: "a", end: "interrupted" });
    reopened.chooseTurn(id);
    expect(lastTurn(reopened)).toMatchObject({ answer: "a b", end: "stop" });
  });

  it("have their own figures", async () => {
    let times = 0;
    const { control, step, openPane } = openPanes({ answer: () => "a ".repeat(++times) });
    await control.start();
    const pane = openPane(1);
    pane.send("Go.");
    await step();
    const { id } = lastTurn(pane)!;
    pane.regenerate();
    await step(2);
    expect(pane.store.getState().figures).toMatchObject({ outputTokens: 2 });
    pane.chooseTurn(id);
    expect(pane.store.getState().figures).toMatchObject({ outputTokens: 1 });
    pane.replaceChat();
    expect(pane.store.getState()).toMatchObject({ turns: [], inactiveTurns: [], figures: null });
  });
});

describe("the place in the queue", () => {
  it("shows its place in the queue while others are served", async () => {
    const { control, step, openPane } = openPanes({ answer: () => "a b", maxNumSeqs: 1 });
    await control.start();
    const panes = [openPane(1), openPane(2), openPane(3)];
    for (const pane of panes) pane.send("Go.");
    await step();
    for (const pane of panes) pane.refreshFigures();
    expect(panes.map((pane) => pane.store.getState().figures?.queuePlace)).toEqual([null, 1, 2]);
    await step();
    await step();
    for (const pane of panes) pane.refreshFigures();
    expect(panes.map((pane) => pane.store.getState().figures?.queuePlace)).toEqual([null, null, 1]);
  });
});

describe("a chat from before the page was loaded", () => {
  const turn = { id: 0, question: "Go.", answer: "a b", end: "stop" } as const;
  const chat = { title: "Mine", settings: { seed: 7 }, turns: [turn], contextStart: 0, draft: "later" };

  it("goes on where it was", async () => {
    const { control, first, step, openPane } = openPanes();
    await control.start();
    const pane = openPane(4, chat);
    expect(pane.toSaved()).toEqual({ id: expect.any(String), ...chat });
    pane.send("On.");
    await step();
    expect(first.accepted.at(-1)).toMatchObject({ seed: 7, messages: [{}, { content: "a b" }, { content: "On." }] });
    expect(new Set(pane.store.getState().turns.map(({ id }) => id)).size).toBe(2);
  });

  it("has its streaming answer as broken off, and a question without answer in the composer", () => {
    const { openPane } = openPanes();
    const broken = openPane(1, { ...chat, turns: [turn, { ...turn, id: 1, end: null }] });
    expect(broken.store.getState()).toMatchObject({ phase: "idle", turns: [turn, { end: "interrupted" }] });
    const unanswered = { id: 1, question: "And?", answer: "", end: null };
    const requested = openPane(2, { ...chat, turns: [turn, unanswered], contextStart: 1 });
    expect(requested.store.getState()).toMatchObject({ turns: [turn], contextStart: 0, draft: "And?\nlater" });
    const edited = openPane(3, {
      ...chat,
      turns: [{ ...unanswered, id: 2 }],
      inactiveTurns: [{ ...turn, after: null }],
    });
    expect(edited.store.getState()).toMatchObject({ turns: [turn], inactiveTurns: [], draft: "And?\nlater" });
  });
});
