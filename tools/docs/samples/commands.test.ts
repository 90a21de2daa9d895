// Commands in the documents. Those that ask a server are sent in e2e/samples.node.ts.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { expect, it } from "vitest";

import { parseCommandLine } from "../../../src/server/command-line.ts";
import { root } from "../../run-command.mjs";
import { commandsOf, readSamples } from "./read-samples.ts";

/** Commands that no test starts, and why. */
const NOT_STARTED: Readonly<Record<string, string>> = {
  "docker compose": "Docker is not everywhere",
  "haproxy -f": "HAProxy is not everywhere",
  "npx serve": "a static host of its own, which npx downloads",
};

const allCommands = readSamples()
  .filter(({ language }) => language === "sh")
  .flatMap((sample) => commandsOf(sample).map((line) => ({ place: sample.place, line })));
const isExample = ({ place }: { place: string }) => place.startsWith("examples/");
const commands = allCommands.filter((command) => !isExample(command));
const exampleCommands = allCommands.filter(isExample);
const isStarted = (line: string) => !Object.keys(NOT_STARTED).some((words) => line.includes(words));

it("commands in the documents are npm's scripts of this project, or requests to its server", () => {
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { scripts: object };
  const unknown = commands.filter(({ line }) => {
    const [, name = ""] = /\bnpm (?:run )?([\w:-]+)/.exec(line) ?? [];
    return isStarted(line) && !(name in scripts) && !line.startsWith("curl http://127.0.0.1:8000/");
  });
  expect(unknown).toEqual([]);
  expect(commands.length).toBeGreaterThan(10);
});

it.each(commands.filter(({ line }) => line.includes("npm run serve -- ")))("$place is understood", ({ line }) => {
  const words = line
    .replace(/^.*npm run serve -- /, "")
    .replace(/ &.*$/, "")
    .replaceAll("$port", "8001");
  expect(parseCommandLine(words.split(" "), {})).toMatchObject({ model: "public/models/chorus-chat" });
});

// The programs themselves run in e2e/package/examples.package.ts.
it.each(exampleCommands.filter(({ line }) => isStarted(line)))(
  "$place: $line works in the example's folder",
  ({ place, line }) => {
    const folder = join(root, dirname(place));
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      dependencies: object;
      devDependencies?: object;
    };
    const [program, name = "", ...words] = line.split(" ");
    if (program === "npm") expect(name).toBe("install");
    else if (program === "node") expect(existsSync(join(folder, name)), name).toBe(true);
    else if (name === "chorus-serve") expect(parseCommandLine(words, {})).toMatchObject({ model: expect.any(String) });
    else
      expect([program, { ...dependencies, ...devDependencies }]).toEqual([
        "npx",
        expect.objectContaining({ [name]: expect.any(String) }),
      ]);
  },
);

it("the examples have commands", () => {
  expect(new Set(exampleCommands.map(({ place }) => dirname(place))).size).toBe(10);
});

it.each(Object.entries(NOT_STARTED))("%s, which is not started (%s), is still in the documents", (words) => {
  expect(allCommands.some(({ line }) => line.includes(words))).toBe(true);
});
