/**
 * Reads the decision tables of docs/decisions: for each event and example the record that Backstop makes, in words. The files
 * of the folder decisions have the deciding fields of each example before and after the event, as `field: value`.
 */
import { readFileSync } from 'node:fs'
import type { ProviderKind } from '@backstop/contracts'

export type Fields = readonly { readonly path: readonly string[]; readonly value: string }[]

export interface DecisionRow {
  readonly event: string
  /** The change at the provider, in words. */
  readonly shows: string
  /** The deciding fields before the event; null if the object was unknown or they do not decide. */
  readonly before: Fields | null
  readonly now: Fields
  readonly records: string
}

const pageOf = (kind: ProviderKind) =>
  readFileSync(new URL(`../../../docs/decisions/${kind}.md`, import.meta.url), 'utf8')

/** The events to subscribe to, which the page lists at its top. */
export function readSubscribedEvents(kind: ProviderKind): string[] {
  const [, list = ''] = /^# .*\n\nSubscribe to: ([\s\S]*?)\.\n\n/.exec(pageOf(kind)) ?? []
  return [...list.matchAll(/`([^`]+)`/g)].map(([, event]) => event as string)
}

/** The records of the page by event and example. A row may have several examples, separated by semicolons. */
function readRecords(kind: ProviderKind): ReadonlyMap<string, string> {
  return new Map(
    rowsOf(pageOf(kind), 3).flatMap(([event, examples = '', records = '']) =>
      examples.split('; ').map(example => [`${event} ${example}`, records] as const),
    ),
  )
}

/**
 * The examples with what the page says about them.
 * @throws Error for a row with missing or extra columns, for an example that the page lacks, and for one that only the page has
 */
export function readDecisions(kind: ProviderKind): DecisionRow[] {
  const records = readRecords(kind)
  const examples = readFileSync(new URL(`decisions/${kind}.md`, import.meta.url), 'utf8')
  const rows = rowsOf(examples, 4).map(([event = '', shows = '', before = '', now = '']) => {
    const known = fieldsIn(before)
    const recorded = records.get(`${event} ${shows}`)
    if (recorded === undefined) throw new Error(`docs/decisions/${kind}.md lacks ${event}: ${shows}`)
    return {
      event: event.replaceAll('`', ''),
      shows,
      before: known.length === 0 ? null : known,
      now: fieldsIn(now),
      records: recorded,
    }
  })
  if (rows.length !== records.size) throw new Error(`docs/decisions/${kind}.md has examples without fields`)
  return rows
}

/** The cells of the rows that begin with a code, such as the name of an event. */
function rowsOf(page: string, columns: number): string[][] {
  return page
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line => {
      const cells = line.split('|').slice(1, -1)
      if (cells.length !== columns) throw new Error(`A row needs ${columns} cells: ${line}`)
      return cells.map(cell => cell.trim())
    })
}

function fieldsIn(cell: string): Fields {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, span]) => {
    const colon = (span as string).indexOf(': ')
    if (colon < 0) throw new Error(`A field is written as name, colon, value: ${span}`)
    return { path: (span as string).slice(0, colon).split('.'), value: (span as string).slice(colon + 2) }
  })
}

/** A copy of an object with the fields of a table row. */
export function withFields(object: object, fields: Fields, parse: (text: string) => unknown): Record<string, unknown> {
  const copy = structuredClone(object) as Record<string, unknown>
  for (const { path, value } of fields) {
    let inner = copy
    for (const name of path.slice(0, -1)) {
      inner[name] ??= {}
      inner = inner[name] as Record<string, unknown>
    }
    inner[path.at(-1) as string] = parse(value)
  }
  return copy
}
