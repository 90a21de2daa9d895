import { expect, it } from "vitest";

import { exampleAddresses } from "./serve-examples.mjs";

it("each example has its address, and nothing else has one", () => {
  const addresses = exampleAddresses("/packed", "http://127.0.0.1:1/");
  expect(addresses.map(([name]) => name)).toEqual([
    "agents",
    "autocomplete",
    "node",
    "plain-page",
    "react-chat",
    "samplers",
    "service-worker",
    "summaries",
    "tools",
    "vue-chat",
  ]);
  const byName = new Map(addresses);
  expect(byName.get("agents")).toBe("http://127.0.0.1:1/agents/?model=/models/chorus-chat/");
  expect(byName.get("node")).toMatch(/^node .packed.node.in-process\.js .packed.models.chorus-chat$/);
});
