import { expect, it } from "vitest";
import { openPanes, settle } from "../../../../tests/app/open-panes.ts";
import { logitBias } from "./logit-bias.ts";

/** A token is a character, by its code. */
const tokenizer = {
  requested: [] as unknown[],
  tokenize(body: { prompt?: string | null }) {
    this.requested.push(body);
    const tokens = [...(body.prompt ?? "")].map((character) => character.charCodeAt(0));
    return Promise.resolve({ count: tokens.length, max_model_len: 9, tokens, token_strs: null });
  },
};

it("biases a token by its id, and a text's tokens with a space before it or not", async () => {
  expect(await logitBias(["#464: -100", "ab : 2.5"], tokenizer)).toEqual({ 464: -100, 32: 2.5, 97: 2.5, 98: 2.5 });
  expect(tokenizer.requested).toEqual([
    { prompt: "ab", add_special_tokens: false },
    { prompt: " ab", add_special_tokens: false },
  ]);
});

it("is nothing for a server, whose tokens are its own", async () => {
  expect(await logitBias(["#464: -100"], {})).toBeNull();
});

it("is sent with a pane's questions, with its other settings", async () => {
  const { control, first, openPane } = openPanes();
  await control.start();
  const pane = openPane(1);
  pane.set("logit_bias", ["#5: 1"]);
  pane.set("no_repeat_ngram_size", 3);
  pane.set("priority", -2);
  pane.send("Hello");
  await settle();
  expect(first.accepted[0]).toMatchObject({ logit_bias: { 5: 1 }, no_repeat_ngram_size: 3, priority: -2 });
});
