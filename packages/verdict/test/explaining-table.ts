import { readFileSync } from 'node:fs'

/** Reads docs/decisions/explaining.md, which is both the documentation of the rules and their test. */

export type Fields = ReadonlyMap<string, string>

export interface ExplainingRow {
  readonly situation: string
  readonly shown: Fields
  readonly known: Fields
  readonly answer: string
}

/**
 * The rows of every table whose fourth column has this heading.
 * @throws Error for a row of them with another number of columns
 */
export function explainingRows(
  lastColumn: 'does it explain?' | 'alerts' | 'verdict' | 'what is recorded',
): ExplainingRow[] {
  const page = readFileSync(new URL('../../../docs/decisions/explaining.md', import.meta.url), 'utf8')
  let head = ''
  return page.split('\n').flatMap(line => {
    if (!line.startsWith('|')) head = ''
    if (!line.startsWith('|') || line.startsWith('|---')) return []
    const cells = line.split('|').slice(1, -1)
    const [situation = '', shown = '', known = '', answer = ''] = cells.map(cell => cell.trim())
    if (head === '') {
      head = answer || 'a table of another form'
      return []
    }
    if (head !== lastColumn) return []
    if (cells.length !== 4) throw new Error(`A row needs four cells: ${line}`)
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
