/**
 * Reads the decision tables of docs/decisions, which are documentation and test data for the meaning of events. A row has an
 * event, the deciding fields before and after the event as `field: value`, and the record that Backstop makes, in words. An
 * item `- *name*: fields` above a table gives several fields a name, which its rows use.
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

const COLUMNS = 5

const pageOf = (kind: ProviderKind) =>
  readFileSync(new URL(`../../../docs/decisions/${kind}.md`, import.meta.url), 'utf8')

/** The events to subscribe to, which the page lists at its top. */
export function readSubscribedEvents(kind: ProviderKind): string[] {
  const [, list = ''] = /^# .*\n\nSubscribe to: ([\s\S]*?)\.\n\n/.exec(pageOf(kind)) ?? []
  return [...list.matchAll(/`([^`]+)`/g)].map(([, event]) => event as string)
}

/** Reads the rows of the table. @throws Error for a row with missing or extra columns, e.g. because of a pipe in a cell */
export function readDecisions(kind: ProviderKind): DecisionRow[] {
  const page = pageOf(kind)
  const named = [...page.matchAll(/^- (\*[^*]+\*): (`.*`)\.?$/gm)]
  const spelledOut = (cell: string) =>
    named.reduce((text, [, name = '', fields = '']) => text.replace(name, fields), cell)
  return page
    .split('\n')
    .filter(line => line.startsWith('| `'))
    .map(line => {
      const [event, shows, before, now, records, ...more] = line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim())
      if (records === undefined || more.length > 0) throw new Error(`A row needs ${COLUMNS} cells: ${line}`)
      const known = fieldsIn(spelledOut(before as string))
      return {
        event: (event as string).replaceAll('`', ''),
        shows: shows as string,
        before: known.length === 0 ? null : known,
        now: fieldsIn(spelledOut(now as string)),
        records,
      }
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
