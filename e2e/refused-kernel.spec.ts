import { expect, test } from "playwright/test";
import { App, ON_GPU } from "./support/app.ts";
import { beforeTheWorker } from "./support/before-the-worker.ts";

// The worker's script is changed on its way.
test.use({ permissions: ["clipboard-read", "clipboard-write"] });

test("an adapter that refuses a kernel is named with it and the compiler's words, and they can be copied", async ({
  page,
}) => {
  const sabotage = `{
    const create = GPUDevice.prototype.createShaderModule;
    GPUDevice.prototype.createShaderModule = function (module) {
      const code = module.label.startsWith("embed ") ? module.code + "\\nfn broken() -> u32 { return missing; }" : module.code;
      return create.call(this, { ...module, code });
    };
  }`;
  await beforeTheWorker(page, sabotage);
  await App.open(page, ON_GPU);
  const alert = page.getByRole("alert");
  const words = [/swiftshader.* does not compile the kernel embed /, /embed\.wgsl:\d+:\d+ unresolved value 'missing'/];
  for (const word of words) await expect(alert).toContainText(word);
  await alert.getByRole("button", { name: "Copy the details" }).click();
  await expect(alert).toContainText("Copied");
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  for (const word of [...words, /Browser: .*Chrome/]) expect(copied).toMatch(word);
});
