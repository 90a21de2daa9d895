import { expect, it } from "vitest";

import { ChorusError } from "../../protocol/errors.ts";
import type { LoadProgress } from "../../protocol/reports.ts";
import { FakeBackend } from "../../../tests/fakes/fake-backend.ts";
import { LoadGuard } from "./load-guard.ts";

it("reports nothing of a load that has failed, whatever still arrives", async () => {
  const reported: LoadProgress[] = [];
  const guard = new LoadGuard(await new FakeBackend("webgpu", "Fake GPU").open(), (one) => reported.push(one));
  guard.report({ stage: "kernels", done: 1, total: 2 });
  await guard.fail(new ChorusError("device_lost", "Gone."));
  guard.report({ stage: "kernels", done: 2, total: 2 });
  expect(reported.map(({ done }) => done)).toEqual([1]);
});
