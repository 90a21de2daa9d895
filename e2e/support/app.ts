// The app's parts as people see them: regions, boxes, buttons.

import { expect, type Locator, type Page } from "playwright/test";
import type { Alert } from "../../src/protocol/reports.ts";
import { toastsStay } from "./toasts-stay.ts";

/** For openFake: an answer that lasts longer than any test. */
export const ENDLESS = "paragraphs=1000&context=1000000&max_tokens=100000";

/** Query of the page's URL, for tests of features that only a GPU has: a software adapter compiles kernels for seconds. */
export const ON_GPU = "backend=webgpu";
const ON_CPU = "backend=cpu";

/**
 * In a page: hides the list of chats at the side, which has the words of the panes once more. (Playwright's `storageState`
 * would open a page of its own for that in each test.)
 */
function hideChats(): void {
  // A blank page has no storage.
  if (location.protocol === "http:") localStorage["chorus.chats-at-side"] ??= "hidden";
}

export class App {
  readonly page: Page;
  readonly batch: Locator;

  constructor(page: Page) {
    this.page = page;
    this.batch = page.getByRole("region", { name: "Batch" });
  }

  /** Opens the app on the CPU unless told otherwise. @param query of the page's address: "temperature=0" makes answers greedy */
  static async open(page: Page, query = ""): Promise<App> {
    await page.addInitScript(hideChats);
    await page.addInitScript(toastsStay);
    await page.goto(`./?${query.includes("backend=") ? query : `${ON_CPU}&${query}`}`);
    return new App(page);
  }

  /** Opens the app on an engine without a model. @param query see tests/app/fake-app.ts */
  static async openFake(page: Page, query = ""): Promise<App> {
    await page.addInitScript(hideChats);
    await page.addInitScript(toastsStay);
    return App.openFakeAsFound(page, query);
  }

  /** Opens it with the list of chats at the side, as a person finds it who has never hidden it. */
  static async openFakeAsFound(page: Page, query = ""): Promise<App> {
    await page.goto(`${process.env.CHORUS_E2E_FAKE_URL}?${query}`);
    return new App(page);
  }

  /** Waits until the page handles its keys, which is after it was rendered. @param number of an open pane */
  async listens(number = 1): Promise<void> {
    await expect(this.pane(number).message).toBeVisible();
    await rendered(this.page);
  }

  /** Waits until the model is loaded. Pane 1, which shows the progress, must be empty. */
  async modelLoaded(): Promise<void> {
    await expect(this.pane(1).message).toBeVisible();
    await expect(this.page.getByRole("heading", { name: /^Getting .* ready$/ })).toBeHidden();
  }

  pane(number: number): Pane {
    return new Pane(this.page.getByRole("region", { name: `Pane ${number}`, exact: true }));
  }

  /** Holds the model back until the returned function is called. */
  static async holdModel(page: Page): Promise<() => void> {
    let letGo = () => {};
    const isLetGo = new Promise<void>((resolve) => (letGo = resolve));
    await page.route("**/*.safetensors", (route) => isLetGo.then(() => route.continue()));
    return letGo;
  }

  /** Makes this many steps of the fake engine at once, and holds those that follow; Infinity lets them go on by the clock. */
  async steps(count: number): Promise<void> {
    await this.page.evaluate((detail) => void dispatchEvent(new CustomEvent("steps", { detail })), count);
  }

  /** Makes the fake engine raise an alert. */
  async raiseAlert(name: Alert["name"], value: number): Promise<void> {
    const detail: Alert = { status: "raised", name, value, threshold: 1, atMs: 5, message: `${name}: ${value}.` };
    await this.page.evaluate((alert) => void dispatchEvent(new CustomEvent("notifyalert", { detail: alert })), detail);
  }

  /** Returns a counter of the batch by its label. */
  figure(label: string): Locator {
    return this.batch.getByRole("term").filter({ hasText: label }).locator("+ dd");
  }

  /** Opens the settings of `whom`, a pane's or those for all panes, with all fields. */
  async openSettings(whom: string): Promise<Locator> {
    await this.page.getByRole("button", { name: `Settings ${whom}` }).click();
    const sheet = this.page.getByRole("dialog", { name: `Settings ${whom}` });
    const more = sheet.locator("details");
    if (!(await more.evaluate((details: HTMLDetailsElement) => details.open))) await more.locator("summary").click();
    return sheet;
  }

  /** Opens panes until there are `upTo`. */
  async addPanes(upTo: number): Promise<Pane[]> {
    for (let number = 2; number <= upTo; number++) {
      await this.page.getByRole("button", { name: "Add pane" }).click();
      await expect(this.pane(number).region).toBeVisible();
    }
    return Array.from({ length: upTo }, (_, index) => this.pane(index + 1));
  }
}

/** Waits until the page has drawn what it knows: its layout follows the window's size a moment later. */
export function rendered(page: Page): Promise<void> {
  return page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
}

export class Pane {
  readonly region: Locator;
  readonly message: Locator;
  readonly send: Locator;
  /** Exists only while the pane is busy. */
  readonly stop: Locator;
  readonly log: Locator;
  /** The newest question with its answer. */
  readonly turn: Locator;
  /** How the newest answer ended; empty until then. */
  readonly ending: Locator;

  constructor(region: Locator) {
    this.region = region;
    this.message = region.getByRole("textbox", { name: "Message" });
    this.send = region.getByRole("button", { name: "Send", exact: true });
    this.stop = region.getByRole("button", { name: "Stop", exact: true });
    this.log = region.getByRole("log");
    this.turn = this.log.getByRole("article").last();
    this.ending = this.turn.locator("> footer > p");
  }

  async ask(question: string): Promise<void> {
    await this.message.fill(question);
    await this.send.click();
  }

  /** Returns the newest answer so far. */
  answer(): Promise<string> {
    return this.turn.locator("[data-answer]").innerText();
  }

  async finished(): Promise<void> {
    await expect(this.ending).toHaveText(/^(Finished|Stopped|Reached the length limit)$/);
  }
}
