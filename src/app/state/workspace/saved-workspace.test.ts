import fc from "fast-check";
import { expect, it } from "vitest";
import { ChorusError } from "../../../protocol/errors.ts";
import { parseSavedWorkspace, titleOfChat } from "./saved-workspace.ts";

const whole = {
  app: "chorus",
  version: 1,
  current: 2,
  shared: { temperature: 0 },
  panes: [
    {
      number: 2,
      title: "Bread",
      settings: { system: "Be brief.", stop: ["END"] },
      turns: [{ id: 0, question: "Why?", answer: "Yeast.", reasoning: "Bread?", end: "stop" }],
      inactiveTurns: [
        { id: 1, question: "How?", answer: "Slowly.", end: "stopped", after: null },
        { id: 2, question: "Really?", answer: "Yes.", end: "stop", after: 1 },
      ],
      contextStart: 0,
      draft: "And",
      askedMs: 1_790_000_000_000,
    },
  ],
};
const [pane] = whole.panes;
const [turn] = pane!.turns;
const withInactive = (more: object) => ({ ...whole, panes: [{ ...pane, inactiveTurns: [{ ...turn, ...more }] }] });

it("reads what was written", () => {
  expect(parseSavedWorkspace(JSON.parse(JSON.stringify(whole)))).toEqual(whole);
});

it("reads what earlier versions wrote, with other names of fields", () => {
  const several = {
    answers: [
      { answer: "Yeast.", end: "stop" },
      { answer: "Heat.", end: "stop" },
    ],
    chosen: 0,
  };
  const { inactiveTurns: unchosen, contextStart: firstSent, ...rest } = pane!;
  const former = { ...rest, turns: [{ ...turn, several }], unchosen: [{ ...unchosen[0], several }], firstSent };
  expect(parseSavedWorkspace({ ...whole, panes: [former] }).panes).toEqual([
    {
      ...pane,
      turns: [{ ...turn, alternatives: several }],
      inactiveTurns: [{ ...unchosen[0], alternatives: several }],
    },
  ]);
});

it.each([
  [null, null],
  [{ ...whole, app: "other" }, "app"],
  [{ ...whole, version: 2 }, "version"],
  [{ ...whole, current: 0 }, "current"],
  [{ ...whole, shared: { temperature: 9 } }, "shared.temperature"],
  [{ ...whole, shared: { heat: 1 } }, "shared.heat"],
  [{ ...whole, panes: [] }, "panes"],
  [{ ...whole, panes: Array.from({ length: 17 }, () => pane) }, "panes"],
  [{ ...whole, panes: [pane, pane] }, "panes"],
  [{ ...whole, panes: [{ ...pane, number: 17 }] }, "panes[0].number"],
  [{ ...whole, panes: [{ ...pane, title: 3 }] }, "panes[0].title"],
  [{ ...whole, panes: [{ ...pane, settings: [] }] }, "panes[0].settings"],
  [{ ...whole, panes: [{ ...pane, settings: { stop: [""] } }] }, "panes[0].settings.stop"],
  [{ ...whole, panes: [{ ...pane, contextStart: 1 }] }, "panes[0].contextStart"],
  [{ ...whole, panes: [{ ...pane, draft: undefined }] }, "panes[0].draft"],
  [{ ...whole, panes: [{ ...pane, turns: [{ ...turn, end: "abort" }] }] }, "panes[0].turns[0].end"],
  [{ ...whole, panes: [{ ...pane, turns: [turn, turn] }] }, "panes[0].turns[1].id"],
  [withInactive({ id: 3 }), "panes[0].inactiveTurns[0].after"],
  [withInactive({ id: 3, after: 3 }), "panes[0].inactiveTurns[0].id"],
  [withInactive({ id: 0, after: null }), "panes[0].inactiveTurns[0].id"],
  [withInactive({ id: 3, after: 2 }), "panes[0].inactiveTurns[0].after"],
  [withInactive({ id: 3, after: 0 }), "panes[0].inactiveTurns[0].after"],
  [withInactive({ id: 3, after: null, answer: 1 }), "panes[0].inactiveTurns[0].answer"],
])("%j is refused by the name of %s", (value, param) => {
  expect(() => parseSavedWorkspace(value)).toThrow(expect.objectContaining({ name: "ChorusError", param }));
});

it("says what would do", () => {
  const messageOf = (value: unknown) => () => parseSavedWorkspace(value);
  expect(messageOf({ ...whole, version: 2 })).toThrow("version must be 1.");
  expect(messageOf({ ...whole, current: 0 })).toThrow("current must be a whole number from 1 to 16.");
});

it("gives a workspace or a ChorusError, whatever it is given", () => {
  const anything = fc.oneof(
    fc.anything(),
    fc.record({ app: fc.constant("chorus"), version: fc.constant(1), panes: fc.anything(), shared: fc.anything() }),
  );
  fc.assert(
    fc.property(anything, (value) => {
      try {
        parseSavedWorkspace(value);
      } catch (error) {
        expect(error).toBeInstanceOf(ChorusError);
      }
    }),
  );
});

it("names a chat after its title, else its first question", () => {
  const turns = [{ id: 0, question: "Why?", answer: "", end: null }];
  expect(titleOfChat({ title: "Mine", turns })).toBe("Mine");
  expect(titleOfChat({ title: null, turns })).toBe("Why?");
  expect(titleOfChat({ title: null, turns: [] })).toBe("New chat");
});
