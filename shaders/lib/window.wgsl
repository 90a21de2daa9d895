// The positions that a row sees: its own and those before it, WINDOW in all.

override WINDOW: u32; // the largest u32 where a row sees all

fn num_seen(position: u32) -> u32 {
  return min(position + 1u, WINDOW);
}

fn first_seen(position: u32) -> u32 {
  return position + 1u - num_seen(position);
}
