import { readFileSync } from 'node:fs'

/**
 * Reads explaining.md of this folder: examples of the rules of docs/decisions/explaining.md, with what the code answers to each.
 */

export type Fields = ReadonlyMap<string, string>

export interface ExplainingRow {
  readonly situation: string
  readonly shown: Fields
  readonly known: Fields
  readonly answer: string
}

const page = readFileSync(new URL('../../../docs/decisions/explaining.md', import.meta.url), 'utf8')
const examples = readFileSync(new URL('explaining.md', import.meta.url), 'utf8')

/** The cells of each row of a table. @throws Error for a row with missing or extra cells */
function rowsBelow(text: string, head: string): string[][] {
  const table = text.split(`\n${head}\n`)[1]?.split('\n\n')[0] ?? ''
  const columns = head.split('|').length
  return table
    .trimEnd()
    .split('\n')
    .slice(1)
    .map(line => {
      const cells = line.split('|').map(cell => cell.trim())
      if (cells.length !== columns) throw new Error(`A row needs ${columns - 2} cells: ${line}`)
      return cells.slice(1, -1)
    })
}

/** The examples below a heading of explaining.md. @throws Error for an example without an answer, and for a second one of a name */
export function explainingRows(kind: 'operations' | 'verdicts' | 'alerts' | 'totals'): ExplainingRow[] {
  const [, section = ''] = examples.split(`\n## ${kind}\n`)
  const rows = rowsBelow(section, /^\| example .*$/m.exec(section)?.[0] ?? '')
  if (new Set(rows.map(([situation]) => situation)).size !== rows.length) throw new Error(`Equal names in ${kind}`)
  return rows.flatMap(([situation = '', shown = '', known = '', answer = '']) => {
    if (answer === '') throw new Error(`No answer: ${situation}`)
    return alternativesOf(known).map(cell => ({ situation, shown: fieldsIn(shown), known: fieldsIn(cell), answer }))
  })
}

/** The codes in the first column of a table of docs/decisions/explaining.md, in backquotes. */
export function documentedCodes(kind: 'operations' | 'verdicts'): string[] {
  const head = { operations: '| answer | the operation |', verdicts: '| reason | verdict | when |' }[kind]
  return rowsBelow(page, head).flatMap(([codes = '']) => codes.split(', '))
}

/** A cell for each value of a field with several: `state: failed or rejected`. */
function alternativesOf(cell: string): string[] {
  const [, field = '', values = ''] = /`([^`:]+): ([^`]+ or [^`]+)`/.exec(cell) ?? []
  return field === '' ? [cell] : values.split(' or ').map(value => cell.replace(values, value))
}

function fieldsIn(cell: string): Fields {
  return new Map(
    [...cell.matchAll(/`([^`]+)`/g)].map(([, span = '']) => {
      const colon = span.indexOf(': ')
      if (colon < 0) throw new Error(`A field is written as name, colon, value: ${span}`)
      return [span.slice(0, colon), span.slice(colon + 2)]
    }),
  )
}

const DAY_MS = 86_400_000

/** A time of day of the page, on the day of the fixtures, in milliseconds since the epoch. */
export function timeOf(text: string): number {
  const [clock = '', ...rest] = text.split(' ')
  const at = Date.parse(`2026-11-21T${clock}Z`)
  if (Number.isNaN(at)) throw new Error(`Not a time: ${text}`)
  return rest.join(' ') === 'the day before' ? at - DAY_MS : at
}
