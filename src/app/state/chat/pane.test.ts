import { describe, expect, it } from "vitest";
import { lastTurn, openPanes, settle } from "../../../../tests/app/open-panes.ts";

describe("a question", () => {
  it("goes from queued to streaming to idle, and is announced once", async () => {
    const { control, announcements, step, openPane } = openPanes({ answer: () => "It is Paris." });
    await control.start();
    const pane = openPane(1);
    pane.setDraft("  The capital of France? ");
    pane.sendDraft();
    expect(pane.store.getState()).toMatchObject({ phase: "queued", draft: "" });
    await step();
    expect(pane.store.getState().phase).toBe("streaming");
    expect(lastTurn(pane)).toMatchObject({ question: "The capital of France?", answer: "It", end: null });
    await step(2);
    expect(pane.store.getState().phase).toBe("idle");
    expect(lastTurn(pane)).toMatchObject({ answer: "It is Paris.", end: "stop" });
    expect(announcements.store.getState().map(({ text }) => text)).toEqual(["Pane 1: It is Paris."]);
  });

  it("asks for the answer's figures, and keeps them with the answer", async () => {
    const { control, first, step, openPane } = openPanes({ answer: () => "It is Paris." });
    await control.start();
    const pane = openPane(1);
    pane.send("The capital of France?");
    await step(3);
    expect(first.accepted[0]?.include_metrics).toBe(true);
    const { id = NaN } = lastTurn(pane) ?? {};
    expect(pane.memory.metrics.get(id)).toMatchObject({ num_steps: 96, time_to_first_token_ms: 97.2 });
    pane.regenerate();
    expect(pane.memory.metrics.get(lastTurn(pane)?.id ?? NaN)).toBeUndefined();
    pane.stop();
    expect(lastTurn(pane)?.id).toBe(id);
    expect(pane.memory.metrics.get(id)).toBeDefined();
  });

  it("shows what the model thinks beside its answer, and does not send it again", async () => {
    const answer = () => "<think>France. Its capital?</think>It is Paris.";
    const { control, first, step, openPane } = openPanes({ answer });
    await control.start();
    const pane = openPane(1);
    pane.send("The capital of France?");
    await step();
    expect(pane.store.getState().phase).toBe("streaming");
    expect(lastTurn(pane)).toMatchObject({ reasoning: "France.", answer: "", end: null });
    await step(8);
    expect(lastTurn(pane)).toMatchObject({ reasoning: "France. Its capital?", answer: "It is Paris.", end: "stop" });
    pane.send("Sure?");
    await step();
    expect(first.accepted.at(-1)?.messages[1]).toEqual({ role: "assistant", content: "It is Paris." });
  });

  it("is sent with what was said before, and half of the context at most for the answer", async () => {
    const { control, first, step, openPane } = openPanes({ model: { contextLength: 60 } });
    await control.start();
    const pane = openPane(1);
    pane.send("One?");
    await step();
    pane.send("Two?");
    await step();
    expect(first.accepted.at(-1)).toMatchObject({
      max_tokens: 30,
      messages: [{ content: "One?" }, { content: "Yes." }, { content: "Two?" }],
    });
  });

  it("is a text to go on with where the model has no chat template, or a pane is set so", async () => {
    const answer = () => " there was a fox.";
    const { control, first, step, openPane } = openPanes({ answer, model: { chat: false } });
    await control.start();
    const pane = openPane(1);
    pane.send("Earlier.");
    await step(4);
    pane.send("Once upon a time");
    await step(2);
    // Alone, and with nothing around it.
    expect(first.accepted.at(-1)?.messages).toEqual([{ role: "user", content: "Once upon a time" }]);
    expect(pane.store.getState()).toMatchObject({ phase: "streaming", contextStart: 1 });
    pane.stop();
    expect(lastTurn(pane)).toMatchObject({ answer: " there was", end: "stopped" });
    pane.refreshFigures();
    expect(pane.store.getState().figures).toMatchObject({ outputTokens: 2 });
    pane.continueAnswer();
    await step();
    expect(first.accepted.at(-1)?.messages[0]?.content).toBe("Once upon a time there was");

    pane.stop();
    pane.set("continue_text", false);
    pane.send("Who are you?");
    // What was left out stays out.
    expect(first.accepted.at(-1)?.messages.map(({ content }) => content)).toEqual([
      "Once upon a time",
      " there was there",
      "Who are you?",
    ]);
  });

  it("does nothing when it is empty or the pane is busy", async () => {
    const { control, openPane } = openPanes();
    await control.start();
    const pane = openPane(1);
    expect(pane.send("  \n ")).toBe(false);
    expect(pane.send("One?")).toBe(true);
    pane.setDraft("Two?");
    pane.sendDraft();
    expect(pane.store.getState()).toMatchObject({ draft: "Two?" });
    expect(pane.store.getState().turns).toHaveLength(1);
  });

  it("ends at the length limit", async () => {
    const { control, step, openPane } = openPanes({ answer: () => "a b c d e f g h", model: { contextLength: 8 } });
    await control.start();
    const pane = openPane(1);
    pane.send("Count.");
    await step(4);
    expect(lastTurn(pane)).toMatchObject({ answer: "a b c d", end: "length" });
  });
});

describe("Stop", () => {
  it("ends one pane's answer, keeps its text and leaves the others alone", async () => {
    const { control, step, openPane } = openPanes({ answer: () => "a b c" });
    await control.start();
    const [one, two] = [openPane(1), openPane(2)];
    one.send("Go.");
    two.send("Go.");
    await step();
    one.stop();
    await step(2);
    expect(one.store.getState().phase).toBe("idle");
    expect(lastTurn(one)).toMatchObject({ answer: "a", end: "stopped" });
    expect(lastTurn(two)).toMatchObject({ answer: "a b c", end: "stop" });
  });

  it("lets the next question be asked at once, and drops late text of the old answer", async () => {
    const { control, first, step, openPane } = openPanes({ answer: (messages) => `${messages.at(-1)?.content} 1 2` });
    await control.start();
    const pane = openPane(1);
    pane.send("A");
    await step();
    first.step();
    pane.stop();
    pane.send("B");
    await step(3);
    expect(pane.store.getState().turns.map(({ answer }) => answer)).toEqual(["A", "B 1 2"]);
  });

  it("puts a question that was not sent yet back into the composer, before what was typed since", () => {
    const { openPane } = openPanes();
    const pane = openPane(1);
    pane.send("Early");
    pane.setDraft("later");
    pane.stop();
    expect(pane.store.getState()).toMatchObject({ phase: "idle", turns: [], draft: "Early\nlater" });
  });
});

describe("before the engine is there", () => {
  it("keeps a question and sends it when the model is ready", async () => {
    const { control, step, openPane } = openPanes();
    const pane = openPane(1);
    pane.send("Early?");
    expect(pane.store.getState().phase).toBe("held");
    await control.start();
    await step();
    expect(lastTurn(pane)).toMatchObject({ question: "Early?", answer: "Yes.", end: "stop" });
  });
});

describe("a conversation that outgrows the context", () => {
  const words = (count: number) => Array.from({ length: count }, () => "w").join(" ");

  it("goes on without its oldest turns and shows them still", async () => {
    const { control, first, step, openPane } = openPanes({ answer: () => words(4), model: { contextLength: 40 } });
    await control.start();
    const pane = openPane(1);
    for (let turn = 0; turn < 4; turn++) {
      pane.send(words(4));
      await step(4);
    }
    // 20 of 40 tokens are kept for the answer: of 8 + 8 + 8 + 4 the newest 8 + 8 + 4 fit.
    expect(pane.store.getState()).toMatchObject({ contextStart: 1, note: null });
    expect(pane.store.getState().turns).toHaveLength(4);
    expect(first.accepted.at(-1)?.messages).toHaveLength(5);
  });

  it("gives a long question alone what is left of the context for its answer", async () => {
    const { control, first, step, openPane } = openPanes({ answer: () => words(20), model: { contextLength: 40 } });
    await control.start();
    const pane = openPane(1);
    pane.send(words(30));
    await step(10);
    expect(first.accepted.at(-1)?.max_tokens).toBeNull();
    expect(lastTurn(pane)).toMatchObject({ answer: words(10), end: "length" });
  });

  it("says so and gives the question back when it does not fit even alone", async () => {
    const { control, step, openPane } = openPanes({ model: { contextLength: 40 } });
    await control.start();
    const pane = openPane(1);
    pane.send("Short.");
    await step();
    pane.send(words(41));
    await settle();
    const state = pane.store.getState();
    expect(state).toMatchObject({ phase: "idle", draft: words(41), contextStart: 0 });
    expect(state.note).toMatchObject({ kind: "bad", title: "Too long for this model", isUnsent: true });
    expect(state.note?.body).toContain("41 tokens");
    expect(state.turns).toHaveLength(1);
  });
});

describe("when the engine dies", () => {
  const lost = { code: "device_lost", message: "The GPU was reset.", param: null } as const;

  it("keeps the text so far, and the question that had no answer yet is asked again after a new start", async () => {
    const { control, first, second, step, openPane } = openPanes({ answer: () => "a b c", maxNumSeqs: 1 });
    await control.start();
    const [streaming, queued] = [openPane(1), openPane(2)];
    streaming.send("Go.");
    queued.send("Go.");
    await step();
    first.die(lost);
    await settle();
    expect(streaming.store.getState()).toMatchObject({
      phase: "idle",
      note: { title: "The GPU was lost", action: "start" },
    });
    expect(lastTurn(streaming)).toMatchObject({ answer: "a", end: "interrupted" });
    expect(queued.store.getState()).toMatchObject({ phase: "held", note: { action: "start" } });

    await control.start();
    await step(3);
    expect(streaming.store.getState().note).toBeNull();
    expect(lastTurn(queued)).toMatchObject({ answer: "a b c", end: "stop" });
    expect(second.accepted).toHaveLength(1);
  });

  it("holds what is asked while it is dead", async () => {
    const { control, first, step, openPane } = openPanes();
    await control.start();
    first.die(lost);
    const pane = openPane(1);
    pane.send("Still there?");
    expect(pane.store.getState()).toMatchObject({ phase: "held", note: { action: "start" } });
    await control.start();
    await step();
    expect(lastTurn(pane)).toMatchObject({ answer: "Yes.", end: "stop" });
  });
});
