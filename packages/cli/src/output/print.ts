import type { Surroundings } from '../surroundings.ts'
import { type Column, tableOf } from './table.ts'

/** The options that every command has. */
export interface JsonOption {
  readonly json?: true
}

/** The options that every list has. */
export interface ListOptions extends JsonOption {
  readonly limit: number
  readonly ids?: true
}

/** Prints one resource: as JSON, or as the text for people. */
export function printItem(item: unknown, text: string, { json }: JsonOption, { out }: Pick<Surroundings, 'out'>): void {
  out(json ? `${JSON.stringify(item, undefined, 2)}\n` : text)
}

/**
 * Prints the first items of a list: each as one line of JSON, or all as a table.
 * @param columns the first one has the id
 */
export async function printList<T>(
  list: AsyncIterable<T>,
  columns: readonly Column<T>[],
  { json, ids, limit }: ListOptions,
  { out, err }: Pick<Surroundings, 'out' | 'err'>,
): Promise<void> {
  const items: T[] = []
  let hasMore = false
  for await (const item of list) {
    hasMore = items.length === limit
    if (hasMore) break
    items.push(item)
    if (json) out(`${JSON.stringify(item)}\n`)
  }
  if (ids) out(items.map(item => `${columns[0]?.of(item)}\n`).join(''))
  else if (!json) out(items.length === 0 ? 'None.\n' : tableOf(columns, items))
  if (hasMore && !ids) err(`Only the first ${limit}; --limit <n> prints more\n`)
}
