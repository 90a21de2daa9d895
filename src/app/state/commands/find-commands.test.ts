import { expect, it } from "vitest";
import { findCommands, type Command } from "./commands.ts";

const command = (title: string, group: Command["group"], words?: string): Command => ({
  id: title,
  title,
  group,
  run: () => {},
  ...(words !== undefined && { words }),
});
const commands = [
  command("Show all commands", "Help"),
  command("Go to the next pane", "Chats"),
  command("Add a pane", "Chats", "new chat"),
  command("Dark theme", "Appearance"),
];
const titles = (query: string) => findCommands(commands, query).map(({ title }) => title);

it("shows all by group where nothing is asked for", () => {
  expect(titles(" ")).toEqual(["Go to the next pane", "Add a pane", "Dark theme", "Show all commands"]);
});

it("finds by every word, in titles, groups and other words", () => {
  expect(titles("pane next")).toEqual(["Go to the next pane"]);
  expect(titles("NEW chat")).toEqual(["Add a pane"]);
  expect(titles("appear")).toEqual(["Dark theme"]);
  expect(titles("no such")).toEqual([]);
});

it("puts a title that begins so first, then titles that have it", () => {
  expect(titles("a")[0]).toBe("Add a pane");
  expect(titles("chats")).toEqual(["Go to the next pane", "Add a pane"]);
});
