import type { KvCacheMap } from "../../../index.ts";
import { DataTable } from "../components/DataTable.tsx";
import { formatCount } from "../format.ts";
import { sequenceName } from "./cell-words.ts";

/** The map as a table for screen readers. A shared block counts for the first sequence that has it. */
export function CacheBlocksTable({ map }: { map: KvCacheMap }) {
  const rows = map.sequences.map((id) => ({ id, blocks: 0, shared: 0, tokens: 0 }));
  for (const [block, owner] of map.owners.entries()) {
    const row = rows[owner];
    if (!row) continue;
    row.blocks += 1;
    row.shared += Number((map.refCounts[block] ?? 0) > 1);
    row.tokens += map.filledTokens[block] ?? 0;
  }
  return (
    <DataTable
      caption="Cache blocks by sequence"
      columns={["Sequence", "Blocks", "Shared blocks", "Tokens"]}
      rows={rows.map(({ id, ...counts }) => [sequenceName(id), ...Object.values(counts).map(formatCount)])}
    />
  );
}
