import { describe, expect, it } from "vitest";

import { seededRandom } from "../../../lab/seeded-random.ts";
import type { RowTiles } from "../row-tiles.ts";
import { PromptRows } from "./prompt-rows.ts";

interface Machine {
  /** Of a step, and of each row of a stream or of a prompt. */
  readonly fixedMs: number;
  readonly rowMs: number;
  readonly promptRowMs: number;
}

/** Steps of so many streams, with a prompt of 1,000 tokens beside them in every third ten. Returns what each step took. */
function run(bound: PromptRows, { fixedMs, rowMs, promptRowMs }: Machine, streams: number, steps: number, noise = 0) {
  const random = seededRandom(7);
  return Array.from({ length: steps }, (_, i) => {
    const promptRows = Math.floor(i / 10) % 3 === 2 ? bound.beside(streams) : 0;
    const ms = fixedMs + rowMs * streams + promptRowMs * promptRows;
    const stepMs = ms * (1 + noise * (random() - 0.5));
    bound.observe({ rows: streams + promptRows, promptRows, stepMs });
    return { promptRows, ms, stretch: ms / (fixedMs + rowMs * streams) };
  });
}

const late = (steps: ReturnType<typeof run>) =>
  steps.slice(steps.length / 2).filter(({ promptRows }) => promptRows > 0);

describe("rows of prompts beside streams", () => {
  const COMPUTES = { fixedMs: 2, rowMs: 0.5, promptRowMs: 0.5 };
  const WAITS = { fixedMs: 3, rowMs: 0.001, promptRowMs: 0.01 };

  it.each([
    ["a processor that computes row by row", COMPUTES, 12],
    ["a GPU that waits for its weights", WAITS, 4],
    ["rows of prompts that cost twice as much", { ...COMPUTES, promptRowMs: 1 }, 24],
  ])("make a step about twice as long: %s", (_name, machine, streams) => {
    const steps = late(run(new PromptRows(2, 1024), machine, streams, 300));
    expect(steps.length).toBeGreaterThan(40);
    for (const { stretch } of steps) expect(stretch).toBeLessThan(2.3);
    for (const { stretch } of steps) expect(stretch).toBeGreaterThan(1.5);
  });

  it("stay near that in noise", () => {
    const steps = late(run(new PromptRows(2, 1024), COMPUTES, 12, 600, 0.3));
    const mean = steps.reduce((sum, { stretch }) => sum + stretch, 0) / steps.length;
    expect(mean).toBeGreaterThan(1.6);
    expect(mean).toBeLessThan(2.2);
  });

  it("are eight at least, however little the streams bear", () => {
    const steps = late(run(new PromptRows(1, 1024), COMPUTES, 1, 90));
    expect(new Set(steps.map(({ promptRows }) => promptRows))).toEqual(new Set([8]));
  });

  it("are those of a step at most", () => {
    expect(late(run(new PromptRows(2, 64), WAITS, 4, 300)).at(-1)?.promptRows).toBe(64);
    expect(new PromptRows(2, 4).beside(1)).toBe(4);
  });

  describe("begin with what prompts alone have cost", () => {
    /** A prompt of 300 tokens comes alone and is answered; then a long one comes beside it. Returns its first step. */
    const first = (machine: Machine) => {
      const bound = new PromptRows(2, 1024);
      bound.observe({ rows: 300, promptRows: 300, stepMs: machine.fixedMs + 300 * machine.promptRowMs });
      run(bound, machine, 1, 20);
      const [step] = run(bound, machine, 1, 21).slice(-1);
      return step ?? { promptRows: NaN, stretch: NaN };
    };

    it("where rows are cheap, at once with all that the stream bears", () => {
      const { promptRows, stretch } = first(WAITS);
      expect(promptRows).toBeGreaterThan(200);
      expect(stretch).toBeLessThan(2.3);
    });

    it("where rows are dear, at once with few", () => {
      expect(first(COMPUTES).promptRows).toBe(8);
    });

    it("where rows cost nothing, with hardly more than were seen", () => {
      expect(first({ fixedMs: 3, rowMs: 0, promptRowMs: 0 }).promptRows).toBe(600);
    });
  });

  it("are halved at most by a slow step with the end of a prompt", () => {
    const bound = new PromptRows(2, 1024);
    run(bound, WAITS, 4, 300);
    const before = bound.beside(4);
    expect(before).toBeGreaterThan(200);
    bound.observe({ rows: 4 + 3, promptRows: 3, stepMs: 60 });
    expect(bound.beside(4)).toBe(Math.floor(before / 2));
  });

  it("are found though the first step took 0 ms by a coarse clock", () => {
    const bound = new PromptRows(2, 1024);
    bound.observe({ rows: 12, promptRows: 0, stepMs: 0 });
    for (const { stretch } of late(run(bound, COMPUTES, 12, 300))) expect(stretch).toBeGreaterThan(1.5);
  });

  it("say nothing by steps with fewer rows than there might have been", () => {
    const bound = new PromptRows(2, 1024);
    const before = bound.beside(8);
    bound.observe({ rows: 8, promptRows: 0, stepMs: 10 });
    bound.observe({ rows: 8 + before / 2, promptRows: before / 2, stepMs: 14 });
    bound.observe({ rows: 8 + before, promptRows: before, stepMs: 0 });
    expect(bound.beside(8)).toBe(before);
  });

  describe("fill the tiles of kernels", () => {
    const TILES = [
      { maxRows: 4, tileRows: 4 },
      { maxRows: Infinity, tileRows: 8 },
    ];
    /** What a step took on an adapter with those kernels. */
    const TILE_MS: Readonly<Record<number, number>> = { 4: 25, 8: 31, 16: 47, 24: 66, 32: 85 };

    /** Steps of prompts beside three streams, each with a step of streams alone before it. Returns their prompt rows. */
    const besideThree = (bound: PromptRows) =>
      Array.from({ length: 20 }, () => {
        bound.observe({ rows: 3, promptRows: 0, stepMs: 25 });
        const promptRows = bound.beside(3);
        bound.observe({ rows: 3 + promptRows, promptRows, stepMs: TILE_MS[3 + promptRows] ?? NaN });
        return promptRows;
      });

    it("and stay with the largest step that the streams bear", () => {
      const bound = new PromptRows(2, 1024);
      bound.useTiles(TILES);
      // 16 rows take 1.9 times as long as the streams alone, and 24 would take 2.6 times.
      expect(new Set(besideThree(bound))).toEqual(new Set([13]));
    });

    it("at least with eight rows, and what fits beside those", () => {
      const bound = new PromptRows(1, 1024);
      bound.useTiles(TILES);
      expect(besideThree(bound).at(-1)).toBe(13);
    });

    describe("of GPUs", () => {
      const classes = [1, 4, 8, 16].map((rows) => ({ maxRows: rows, tileRows: rows }));
      const gpuTiles = (tileRows: number): RowTiles => [...classes, { maxRows: Infinity, tileRows }];
      const boundOf = (tileRows: number) => {
        const bound = new PromptRows(2, 1024);
        bound.useTiles(gpuTiles(tileRows));
        return bound;
      };
      const CHEAP = { fixedMs: 10, rowMs: 0.02, promptRowMs: 0.02 };

      describe.each([16, 32, 64])("of %i rows", (tileRows) => {
        it.each([1, 4, 11])("as many as %i streams bear", (streams) => {
          for (const first of [0, 30]) {
            const bound = boundOf(tileRows);
            if (first > 0) bound.observe({ rows: first, promptRows: first, stepMs: 10 + 0.02 * first });
            for (const { promptRows, stretch } of late(run(bound, CHEAP, streams, 300))) {
              expect((streams + promptRows) % tileRows).toBe(0);
              expect(stretch).toBeGreaterThan(1.85);
              expect(stretch).toBeLessThan(2.1);
            }
          }
        });

        it("again, after slow steps", () => {
          const bound = boundOf(tileRows);
          run(bound, CHEAP, 4, 300);
          for (let i = 0; i < 10; i++) {
            const promptRows = bound.beside(4);
            bound.observe({ rows: 4 + promptRows, promptRows, stepMs: 60 });
          }
          expect(bound.beside(4)).toBeLessThan(tileRows);
          for (const { stretch } of late(run(bound, CHEAP, 4, 600))) expect(stretch).toBeGreaterThan(1.85);
        });
      });

      it("and seldom try a tile more where it takes too long", () => {
        const bound = boundOf(32);
        // Each tile costs its own time, and a single row takes less than a tile.
        const msOf = (rows: number) => (rows <= 16 ? 10 : 15 * Math.ceil(rows / 32));
        const stretches = Array.from({ length: 200 }, () => {
          bound.observe({ rows: 1, promptRows: 0, stepMs: msOf(1) });
          const promptRows = bound.beside(1);
          bound.observe({ rows: 1 + promptRows, promptRows, stepMs: msOf(1 + promptRows) });
          return msOf(1 + promptRows) / msOf(1);
        });
        expect(stretches.filter((stretch) => stretch > 2).length).toBeLessThan(10);
        expect(stretches.filter((stretch) => stretch === 1.5).length).toBeGreaterThan(150);
      });
    });

    it("beside another number of streams, too", () => {
      const bound = new PromptRows(2, 1024);
      bound.useTiles(TILES);
      besideThree(bound);
      expect([1, 3, 4, 7, 8].map((streams) => bound.beside(streams))).toEqual([15, 13, 12, 9, 8]);
    });
  });
});
