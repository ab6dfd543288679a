import type { AuditDocument } from '@backstop/contracts'

/** JSON with sorted keys and without undefined fields, so that the same row always gives the same text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => (isObject(item) ? sorted(Object.entries(item)) : item))
}

/**
 * The row as its writer made it. MongoDB stores undefined as null and replaces lone surrogates, so neither makes a difference: the text is
 * the same before and after a row was stored.
 */
export function writtenText(row: AuditDocument): string {
  const { hash, mac, unchained, sequence, previous_hash, previous_at, chained_at, unsigned, ...written } = row
  return JSON.stringify(written, (_, item: unknown) => {
    if (typeof item === 'string') return item.toWellFormed()
    if (!isObject(item)) return item
    const entries = Object.entries(item).filter(([, field]) => field !== undefined && field !== null)
    return sorted(entries.map(([name, field]) => [name.toWellFormed(), field]))
  })
}

/** The row with its place in the chain, without the fields that are computed from this text. */
export function linkedText({ hash, mac, unchained, ...row }: AuditDocument): string {
  return canonicalJson(row)
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function sorted(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
