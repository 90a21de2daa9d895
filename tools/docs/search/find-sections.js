/**
 * A part of a page, from a heading to the next.
 *
 * @typedef {{ href: string, title: string, heading: string, text: string }} Section
 */

/** What a word counts, by where it is. Those in the text count once each, up to a few: long sections are not better. */
const WEIGHTS = { title: 8, heading: 16, text: 1, mostInText: 4 };

/**
 * Returns the sections that have all words of the query, the best first. A word may be part of a longer one, so "usage" finds
 * `kv_cache_usage_perc`, but counts more where one begins.
 *
 * @param {readonly Section[]} sections
 * @param {string} query
 */
export function findSections(sections, query) {
  const words = wordsOf(query);
  if (words.length === 0) return [];
  return sections
    .map((section) => ({ section, score: scoreOf(section, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ section }) => section);
}

/** Returns the words of a query, in small letters. @param {string} query */
export function wordsOf(query) {
  return query.toLowerCase().split(/\s+/).filter(Boolean);
}

/** 0 where a word is missing. @param {Section} section @param {readonly string[]} words */
function scoreOf({ title, heading, text }, words) {
  let sum = 0;
  for (const word of words) {
    const score =
      WEIGHTS.title * Math.min(1, countOf(title, word)) +
      WEIGHTS.heading * Math.min(1, countOf(heading, word)) +
      WEIGHTS.text * Math.min(WEIGHTS.mostInText, countOf(text, word));
    if (score === 0) return 0;
    sum += score;
  }
  return sum;
}

/** Counts half where the word begins inside of another. @param {string} text @param {string} word */
function countOf(text, word) {
  const lower = text.toLowerCase();
  let count = 0;
  for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + word.length)) {
    count += /[\p{L}\p{N}]/u.test(lower[at - 1] ?? "") ? 0.5 : 1;
  }
  return count;
}
