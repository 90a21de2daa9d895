/** Returns what `read` returns; `otherwise` if it throws. */
export function attempt<Value, Otherwise>(read: () => Value, otherwise: Otherwise): Value | Otherwise {
  try {
    return read();
  } catch {
    return otherwise;
  }
}
