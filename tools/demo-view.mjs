// The demo's view on the terminal: each answer's lines as they become whole.

/**
 * @typedef {{ answers: { text: string, end: string }[], figures: Record<string, string> }} Snapshot
 * @typedef {{ show: (snapshot: Snapshot) => void }} DemoView
 * @typedef {{ write: (text: string) => unknown }} Output
 */

const LINE_WIDTH = 72;
const FIGURES_EVERY_MS = 2000;

/**
 * @param {readonly string[]} questions one a pane
 * @param {Output} [output]
 * @returns {DemoView}
 */
export function createDemoView(questions, output = process.stdout) {
  const panes = questions.map((question, index) => {
    output.write(`Pane ${index + 1} > ${question}\n`);
    return { wordsShown: 0, ended: false };
  });
  let figuresAtMs = -Infinity;
  return {
    show({ answers, figures }) {
      for (const [index, pane] of panes.entries()) {
        const { text = "", end = "" } = answers[index] ?? {};
        const lines = wrap(text.trim().split(/\s+/).slice(pane.wordsShown).join(" "), LINE_WIDTH);
        // The last line may still grow.
        const whole = end ? lines : lines.slice(0, -1);
        for (const line of whole) {
          output.write(`Pane ${index + 1} | ${line}\n`);
          pane.wordsShown += line.split(" ").length;
        }
        if (end && !pane.ended) output.write(`Pane ${index + 1} | (${end})\n`);
        pane.ended = end !== "";
      }
      if (Date.now() - figuresAtMs < FIGURES_EVERY_MS) return;
      figuresAtMs = Date.now();
      const words = Object.entries(figures).map(([label, value]) => `${label} ${value}`);
      output.write(`Batch  | ${words.join(" · ")}\n`);
    },
  };
}

/**
 * Lines of at most `width` characters, broken between words; a word that is longer stands alone.
 *
 * @returns {string[]}
 */
export function wrap(/** @type {string} */ text, /** @type {number} */ width) {
  return text.match(new RegExp(`\\S.{0,${width - 1}}(?!\\S)|\\S+`, "g"))?.map((line) => line.trimEnd()) ?? [];
}
