import { readFileSync } from 'node:fs'

/**
 * Reads docs/decisions/explaining.md, which is both the documentation of the rules and their test. The file explaining.md of this
 * folder has the fields of the examples that the page names.
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

/** The heads of the tables of the page. A row of the first two has an answer and the examples of it. */
const HEADS = {
  operations: '| answer | the operation | examples |',
  verdicts: '| reason | verdict | examples |',
  alerts: '| situation | alerts |',
  totals: '| situation | recorded |',
} as const

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

/**
 * The examples of a table of the page.
 * @throws Error for an example without fields, and for one that the page does not name
 */
export function explainingRows(kind: keyof typeof HEADS): ExplainingRow[] {
  const answers = new Map(
    rowsBelow(page, HEADS[kind]).flatMap(([first = '', second = '', names]) =>
      names === undefined ? [[first, second] as const] : names.split('; ').map(name => [name, first] as const),
    ),
  )
  const [, section = ''] = examples.split(`\n## ${kind}\n`)
  const given = rowsBelow(section, /^\| example .*$/m.exec(section)?.[0] ?? '')
  if (given.length !== answers.size) throw new Error(`The page names ${answers.size} ${kind}, not ${given.length}`)
  return given.flatMap(([situation = '', shown = '', known = '']) => {
    const answer = answers.get(situation)
    if (answer === undefined) throw new Error(`docs/decisions/explaining.md does not name: ${situation}`)
    return alternativesOf(known).map(cell => ({ situation, shown: fieldsIn(shown), known: fieldsIn(cell), answer }))
  })
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
