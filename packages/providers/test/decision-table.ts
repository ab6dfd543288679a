/**
 * Reads the examples of the folder decisions: for each event the deciding fields, as `field: value`, and the record that Backstop
 * makes, in words. The pages of docs/decisions say the same of each event in general.
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
  const [, list = ''] = /^Subscribe to: ([\s\S]*?)\.\n\n/m.exec(pageOf(kind)) ?? []
  return [...list.matchAll(/`([^`]+)`/g)].map(([, event]) => event as string)
}

/** The events in the tables of the page. */
export function documentedEvents(kind: ProviderKind): string[] {
  const cells = rowsOf(pageOf(kind), 2).map(([events = '']) => events)
  return cells.flatMap(cell => [...cell.matchAll(/`([^`]+)`/g)].map(([, event]) => event as string))
}

/** The examples. @throws Error for a row with missing or extra columns, and for a second example of an event with the same name */
export function readDecisions(kind: ProviderKind): DecisionRow[] {
  const examples = readFileSync(new URL(`decisions/${kind}.md`, import.meta.url), 'utf8')
  const rows = rowsOf(examples, 5)
  if (new Set(rows.map(([event, shows]) => `${event} ${shows}`)).size !== rows.length) throw new Error('Equal examples')
  return rows.map(([event = '', shows = '', before = '', now = '', records = '']) => {
    const known = fieldsIn(before)
    return {
      event: event.replaceAll('`', ''),
      shows,
      before: known.length === 0 ? null : known,
      now: fieldsIn(now),
      records,
    }
  })
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
