import { expect, it } from "vitest";
import { fileNameOf } from "./save-file.ts";

it("makes a file's name of any title", () => {
  expect(fileNameOf("Why does bread rise?")).toBe("Why-does-bread-rise");
  expect(fileNameOf("../../etc/passwd")).toBe("etc-passwd");
  expect(fileNameOf("Où? Größe 3")).toBe("Où-Größe-3");
  expect(fileNameOf("?!")).toBe("chat");
  expect(fileNameOf("long ".repeat(50))).toHaveLength(60);
});
