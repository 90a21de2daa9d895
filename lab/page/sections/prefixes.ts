import type { Section } from "../bench-context.ts";
import { formatRatio, formatSpread, inTimes } from "../../report/format-figure.ts";
import { tableOf } from "../../report/tables-and-charts.ts";
import { runLoad } from "../../load/load.ts";
import { summarise } from "../../load/load-summary.ts";
import { servingMetrics } from "../../load/serving-metrics.ts";
import { spreadOf } from "../../statistics.ts";

const CHATS = 8;
const QUICK_CHATS = 3;
const OWN_TOKENS = 16;
const BLOCK = 16;

export const prefixesSection: Section = {
  about:
    "First one chat is answered. Then several start at once: their prompts begin like the first one's, and differ for their last " +
    `${OWN_TOKENS} tokens. With the prefix cache, the shared beginning is computed once.`,
  async run(context) {
    const { outputTokens, quick } = context.options;
    const chats = quick ? QUICK_CHATS : CHATS;
    const room = context.model.contextLength - OWN_TOKENS - outputTokens;
    const prefixTokens = BLOCK * Math.floor(Math.min(quick ? 48 : 256, room) / BLOCK);
    const engines = await Promise.all(
      [true, false].map((enablePrefixCaching) => context.openEngine({ enablePrefixCaching })),
    );
    const measured = await context.interleave(
      engines.map((engine, i) => ({ engine, name: i === 0 ? "cache on" : "cache off" })),
      ({ name }) => name,
      async ({ engine }) => {
        const prefix = context.prompt(prefixTokens);
        const ask = () => ({ prompt: [...prefix, ...context.prompt(OWN_TOKENS)], outputTokens });
        await runLoad(engine, [ask()], { signal: context.signal });
        const before = await engine.stats();
        const run = await runLoad(engine, Array.from({ length: chats }, ask), { signal: context.signal });
        const after = await engine.stats();
        const found = after.prefix_cache_hits - before.prefix_cache_hits;
        return { run, hitRate: found / (chats * (prefixTokens + OWN_TOKENS)) };
      },
    );
    const lines = measured.map(({ of, outcomes }) => {
      const summary = summarise(outcomes.map(({ run }) => run));
      return {
        name: of.name,
        hitRate: outcomes[0]?.hitRate ?? 0,
        ttftMs: summary.median((metrics) => metrics.mean_ttft_ms),
        ttftSpread: spreadOf(outcomes.map(({ run }) => servingMetrics(run).mean_ttft_ms)),
        ttftP95Ms: summary.median((metrics) => metrics.p95_ttft_ms),
        e2elMs: summary.median((metrics) => metrics.mean_e2el_ms),
        tokensPerSecond: summary.median((metrics) => metrics.output_throughput),
        spread: summary.spread,
      };
    });
    const [on, off] = lines;
    const sooner = formatRatio(
      (off?.ttftMs ?? NaN) / (on?.ttftMs ?? NaN),
      off?.ttftSpread ?? NaN,
      on?.ttftSpread ?? NaN,
    );
    return {
      headlines: [[inTimes(sooner), `sooner to the first token, ${chats} chats that share ${prefixTokens} tokens`]],
      tables: [
        tableOf(
          `${chats} chats at once, ${prefixTokens} tokens shared and ${OWN_TOKENS} of their own, ${outputTokens} new ones`,
          lines,
          {
            "Prefix cache": (line) => line.name,
            "found, % of prompts": (line) => Math.round(100 * line.hitRate),
            "TTFT mean, ms": (line) => line.ttftMs,
            "TTFT p95, ms": (line) => line.ttftP95Ms,
            "E2EL mean, ms": (line) => line.e2elMs,
            "tokens/s": (line) => line.tokensPerSecond,
            spread: (line) => formatSpread(line.spread),
          },
        ),
      ],
    };
  },
};
