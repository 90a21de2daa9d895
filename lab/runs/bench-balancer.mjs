// npm run bench -- balancer: three servers behind HAProxy with docs/serve/haproxy.cfg, or with --balancer nginx behind nginx with
// docs/serve/nginx.conf. Conversations spread and kept together, then one server is killed while all of them answer.

import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startServer } from "./bench-serve.mjs";
import { root } from "../../tools/run-command.mjs";
import { endProcess } from "../../tools/time-limits.mjs";

/** No multiple of three: else turns that go round would find their server by chance. */
const CONVERSATIONS = 13;
const TURNS = 6;
const ANSWER_TOKENS = 24;
const LONG_ANSWER_TOKENS = 120;
const QUESTIONS = [
  "Tell me a story about a fox.",
  "And then?",
  "Why?",
  "What is the capital of France?",
  "And of Italy?",
  "Thank you.",
];

/**
 * A balancer before three servers, at an address. `isKept`: each conversation goes to one server.
 *
 * @typedef {{ hosts: string[], address: string, isKept: boolean }} Fleet
 * @typedef {{
 *   spread: string,
 *   kept: string,
 *   sendsHeader: boolean,
 *   start: (fleet: Fleet) => { process: import("node:child_process").ChildProcess, remove: () => void },
 * }} Balancer how it spreads and keeps conversations, in words; whether it knows them by a header that the client sends
 */

/** @type {Record<string, Balancer>} */
const BALANCERS = {
  haproxy: {
    spread: "leastconn",
    kept: "hdr(x-conversation)",
    sendsHeader: false,
    start({ hosts: [one = "", two = "", three = ""], address, isKept }) {
      const balance = isKept ? this.kept : this.spread;
      const env = { ...process.env, LISTEN: address, BALANCE: balance, CHORUS_1: one, CHORUS_2: two, CHORUS_3: three };
      const args = ["-q", "-db", "-f", "docs/serve/haproxy.cfg"];
      return { process: spawn("haproxy", args, { cwd: root, env, stdio: "ignore" }), remove() {} };
    },
  },
  nginx: {
    spread: "no header",
    kept: "x-conversation",
    sendsHeader: true,
    start({ hosts, address }) {
      const folder = mkdtempSync(join(tmpdir(), "chorus-nginx-"));
      let config = readFileSync(join(root, "docs/serve/nginx.conf"), "utf8").replace("127.0.0.1:8000", address);
      for (const [i, host] of hosts.entries()) config = config.replace(`127.0.0.1:${8001 + i}`, host);
      writeFileSync(join(folder, "nginx.conf"), config);
      const nginx = spawn("nginx", ["-p", folder, "-c", "nginx.conf"], { stdio: "ignore" });
      return { process: nginx, remove: () => rmSync(folder, { recursive: true, force: true }) };
    },
  },
};

export async function benchBalancer(program = "haproxy") {
  const balancer = BALANCERS[program];
  if (!balancer) throw new Error(`--balancer ${program} is not one of: ${Object.keys(BALANCERS).join(", ")}.`);
  if (spawnSync(program, ["-v"]).error)
    throw new Error(`${program} is not installed. On Debian: apt-get install ${program}.`);
  const { runnerImport } = await import("vite");
  const { RemoteEngine } = (await runnerImport("./src/app/remote/remote-engine.ts", { configFile: false, root }))
    .module;
  for (const isKept of [false, true]) {
    await withFleet(balancer, isKept, async ({ url, servers }) => {
      const engine = open(RemoteEngine, url);
      // A little apart, as people are.
      await Promise.all(
        Array.from({ length: CONVERSATIONS }, async (_, i) => {
          await sleep(100 * i);
          await converse(engine, i, balancer.sendsHeader && isKept);
        }),
      );
      const totals = await Promise.all(servers.map(({ url: own }) => prefixCounters(own)));
      const sum = (/** @type {"hits" | "queries"} */ name) => totals.reduce((all, one) => all + one[name], 0);
      console.log(
        `${(isKept ? balancer.kept : balancer.spread).padEnd(20)} prefix hits ${((100 * sum("hits")) / sum("queries")).toFixed(0)}% of ${sum("queries")} prompt tokens; by server ${totals.map(({ queries }) => queries).join(", ")}`,
      );
    });
  }
  await withFleet(balancer, true, async ({ url, servers }) => {
    const ask = (/** @type {any} */ engine, /** @type {number} */ i) =>
      answerOf(engine, [{ role: "user", content: `${i}: ${QUESTIONS[0]}` }], LONG_ANSWER_TOKENS, {
        isExact: true,
        conversation: balancer.sendsHeader ? `${i}` : null,
      });
    const plain = open(RemoteEngine, url, { retryDelaysMs: [] });
    const panes = open(RemoteEngine, url);
    const asked = (/** @type {any} */ engine, /** @type {number} */ i) =>
      ask(engine, i).catch((/** @type {any} */ error) => ({ error, text: "", tokens: 0, numRequests: 0 }));
    const killed = servers[0]?.process;
    const all = Array.from({ length: CONVERSATIONS }, (_, i) => i);
    const answers = Promise.all([...all.map((i) => asked(plain, i)), ...all.map((i) => asked(panes, i))]);
    await sleep(1500);
    killed?.kill("SIGKILL");
    const results = await answers;
    const [withoutRetries, ofPanes] = [results.slice(0, CONVERSATIONS), results.slice(CONVERSATIONS)];
    const broken = withoutRetries.filter((result) => "error" in result);
    const codes = [
      ...new Set(broken.map(({ error }) => `${error.code}${error.isTransient ? " (may be tried again)" : ""}`)),
    ];
    console.log(`One of three servers killed while ${2 * CONVERSATIONS} streams were open:
  without retries   ${CONVERSATIONS - broken.length} whole, ${broken.length} broken off: ${codes.join(", ") || "none"}
  as the app's panes ${ofPanes.filter((result) => result.tokens === LONG_ANSWER_TOKENS).length} of ${CONVERSATIONS} whole, ${ofPanes.filter((result) => result.numRequests > 1).length} of them in more than one request`);
    const after = await ask(plain, 99);
    console.log(`  the next question is answered by another server, ${after.tokens} tokens`);
  });
}

function open(/** @type {any} */ RemoteEngine, /** @type {string} */ url, patience = {}) {
  return (/** @type {any} */ observer) =>
    new RemoteEngine({
      baseUrl: `${url}/v1`,
      model: "chorus-chat",
      key: null,
      ownedBy: "chorus",
      patience,
      observer,
      fetch: observer.fetch,
    });
}

async function converse(/** @type {any} */ engine, /** @type {number} */ i, /** @type {boolean} */ sendsHeader) {
  const conversation = sendsHeader ? `${i}` : null;
  /** @type {{ role: string, content: string }[]} */
  const messages = [];
  for (let turn = 0; turn < TURNS; turn++) {
    messages.push({ role: "user", content: turn === 0 ? `${i}: ${QUESTIONS[0]}` : (QUESTIONS[turn] ?? "") });
    const { text } = await answerOf(engine, messages, ANSWER_TOKENS, { isExact: false, conversation });
    messages.push({ role: "assistant", content: text });
    await sleep(200 + 97 * ((7 * i + 3 * turn) % 5));
  }
}

async function answerOf(
  /** @type {any} */ engine,
  /** @type {object[]} */ messages,
  /** @type {number} */ maxTokens,
  /** @type {{ isExact: boolean, conversation: string | null }} */ { isExact, conversation },
) {
  let [text, tokens, numRequests] = ["", 0, 0];
  const observer = {
    sent() {},
    ended() {},
    received(/** @type {string} */ _, /** @type {number} */ count) {
      tokens = count;
    },
    fetch: (/** @type {string} */ url, /** @type {RequestInit & { body: string }} */ init) => {
      numRequests++;
      // The page never asks for it; here all answers are to have one length.
      const body = isExact ? JSON.stringify({ ...JSON.parse(init.body), ignore_eos: true }) : init.body;
      const headers = new Headers(init.headers);
      if (conversation !== null) headers.set("x-conversation", conversation);
      return fetch(url, { ...init, headers, body });
    },
  };
  const body = { messages, max_tokens: maxTokens, temperature: 0, stream: true };
  for await (const { choices } of await engine(observer).chat.completions.create(body))
    text += choices[0]?.delta.content ?? "";
  return { text, tokens, numRequests };
}

async function withFleet(
  /** @type {Balancer} */ balancer,
  /** @type {boolean} */ isKept,
  /** @type {(fleet: { url: string, servers: any[] }) => Promise<void>} */ measure,
) {
  // The first one builds what has changed.
  const servers = [await startServer(), ...(await Promise.all([startServer(), startServer()]))];
  const address = `127.0.0.1:${await freePort()}`;
  const hosts = servers.map(({ url }) => new URL(url).host);
  const { process: running, remove } = balancer.start({ hosts, address, isKept });
  try {
    await sleep(1500); // until its checks have passed
    await measure({ url: `http://${address}`, servers });
  } finally {
    await endProcess(running, 1000);
    remove();
    for (const { process: server } of servers) await endProcess(server, 0);
  }
}

async function prefixCounters(/** @type {string} */ url) {
  const text = await (await fetch(`${url}/metrics`)).text();
  const valueOf = (/** @type {string} */ name) =>
    Number(new RegExp(`^vllm:${name}(?:\\{[^}]*\\})? (\\S+)`, "m").exec(text)?.[1]);
  return { hits: valueOf("prefix_cache_hits_total"), queries: valueOf("prefix_cache_queries_total") };
}

const sleep = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address ? address.port : 0));
    });
  });
}
