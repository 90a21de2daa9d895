// A WebDriver session over HTTP, as far as the tests in WebKit need one (https://www.w3.org/TR/webdriver2/).

import { within } from "../time-limits.mjs";

/** Longer than the browser's own limits below. */
const ANSWER_MS = 270_000;

/** WebDriver's name of an element in JSON. */
const ELEMENT = "element-6066-11e4-a52e-4f735466cecf";

export class WebDriverSession {
  /** @type {string} */
  #url;
  /** The browser's own name: "MiniBrowser 2.50.6". */
  browser;

  /** @private */
  constructor(/** @type {string} */ url, /** @type {string} */ browser) {
    this.#url = url;
    this.browser = browser;
  }

  /** Opens a window of the driver's own browser. @throws Error what the driver says */
  static async open(/** @type {string} */ driverUrl) {
    const timeouts = { script: 240_000, pageLoad: 120_000, implicit: 120_000 };
    const { sessionId, capabilities } = await request("POST", `${driverUrl}/session`, {
      capabilities: { alwaysMatch: { timeouts } },
    });
    const { browserName, browserVersion } = capabilities;
    return new WebDriverSession(`${driverUrl}/session/${sessionId}`, `${browserName} ${browserVersion}`);
  }

  async goTo(/** @type {string} */ url) {
    await request("POST", `${this.#url}/url`, { url });
  }

  /** Waits for an element and clicks on it. */
  async click(/** @type {string} */ xpath) {
    await request("POST", `${await this.#find(xpath)}/click`, {});
  }

  /** Waits for an element and types into it. */
  async type(/** @type {string} */ xpath, /** @type {string} */ text) {
    await request("POST", `${await this.#find(xpath)}/value`, { text });
  }

  /** Runs the body of a function in the page, until the promise that it returns resolves. */
  evaluate(/** @type {string} */ body) {
    const script = `const done = arguments[arguments.length - 1];
      (async () => { ${body} })().then((value) => done({ value }), (error) => done({ error: String(error) }));`;
    return request("POST", `${this.#url}/execute/async`, { script, args: [] }).then(({ value, error }) => {
      if (error) throw new Error(error);
      return value;
    });
  }

  async close() {
    await request("DELETE", this.#url);
  }

  async #find(/** @type {string} */ xpath) {
    const found = await request("POST", `${this.#url}/element`, { using: "xpath", value: xpath });
    return `${this.#url}/element/${found[ELEMENT]}`;
  }
}

async function request(
  /** @type {string} */ method,
  /** @type {string} */ url,
  /** @type {object | null} */ body = null,
) {
  const requested = fetch(url, {
    method,
    headers: { "Content-Type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const response = await within(requested, ANSWER_MS, `WebDriver did not answer ${method} ${url}`);
  const { value } = await response.json();
  if (!response.ok) throw new Error(`${value.error}: ${value.message}`);
  return value;
}
