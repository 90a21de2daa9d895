import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { fileNameOf } from "./save-file.ts";

it("is how everything is saved: an address that is given up at once may leave a browser with nothing to save", () => {
  const sources = readdirSync("src/app", { recursive: true, encoding: "utf8" }).filter((path) =>
    /(?<!\.test)\.tsx?$/.test(path),
  );
  const makesAddresses = (path: string) => readFileSync(`src/app/${path}`, "utf8").includes("createObjectURL");
  expect(sources.filter(makesAddresses)).toEqual(["ui/save-file.ts"]);
});

it("makes a file's name of any title", () => {
  expect(fileNameOf("Why does bread rise?")).toBe("Why-does-bread-rise");
  expect(fileNameOf("../../etc/passwd")).toBe("etc-passwd");
  expect(fileNameOf("Où? Größe 3")).toBe("Où-Größe-3");
  expect(fileNameOf("?!")).toBe("chat");
  expect(fileNameOf("long ".repeat(50))).toHaveLength(60);
});
