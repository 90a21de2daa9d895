import { expect, it } from "vitest";
import { Commands, type Command } from "./commands.ts";

const command = (id: string, more: Partial<Command> = {}): Command => ({
  id,
  title: id,
  group: "Chats",
  run: () => {},
  ...more,
});
const ids = (commands: Commands) => commands.enabled().map(({ id }) => id);

it("lists what is registered, until it is taken away", () => {
  const commands = new Commands();
  commands.register([command("a")]);
  const takeAway = commands.register([command("b"), command("c")]);
  expect(ids(commands)).toEqual(["a", "b", "c"]);
  takeAway();
  expect(ids(commands)).toEqual(["a"]);
});

it("leaves out what can't be done now", () => {
  const commands = new Commands();
  let isEnabled = false;
  commands.register([command("a", { isEnabled: () => isEnabled })]);
  expect(ids(commands)).toEqual([]);
  isEnabled = true;
  expect(ids(commands)).toEqual(["a"]);
});

it("refuses an id and keys that are taken", () => {
  const commands = new Commands();
  commands.register([command("a", { keys: "Mod+K" })]);
  expect(() => commands.register([command("a")])).toThrow("command a");
  expect(() => commands.register([command("b", { keys: "Mod+K" })])).toThrow("keys of a");
  expect(() => commands.register([command("b"), command("b")])).toThrow("command b");
  expect(ids(commands)).toEqual(["a"]);
});
