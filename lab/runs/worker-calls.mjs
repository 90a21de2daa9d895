/**
 * Returns a function that calls a method of the inspector in a page's worker. Playwright's sessions know nothing of sessions
 * within them, hence messages in messages.
 *
 * @param {import("playwright").CDPSession} session the page's
 */
export function workerCalls(session) {
  let lastId = 0;
  /** @type {Map<number, (message: { result?: any, error?: unknown }) => void>} */
  const waiting = new Map();
  session.on("Target.receivedMessageFromTarget", ({ message }) => {
    const answer = JSON.parse(message);
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  return (/** @type {string} */ sessionId, /** @type {string} */ method, params = {}) =>
    new Promise((/** @type {(result: any) => void} */ resolve, reject) => {
      const id = ++lastId;
      waiting.set(id, ({ result, error }) => (error ? reject(new Error(JSON.stringify(error))) : resolve(result)));
      const message = JSON.stringify({ id, method, params });
      session.send("Target.sendMessageToTarget", { sessionId, message }).catch(reject);
    });
}
