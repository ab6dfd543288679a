import type { Compared, ComparedReading, JudgedTarget } from './compare.ts'

/** Formats a comparison for a terminal: a table for each reading, then a line for each target. */
export function toTable({ name, readings, targets }: Compared): string {
  return [name, ...readings.flatMap(rowsOf), ...targets.map(targetLine)].join('\n')
}

function rowsOf({ name, unit, contenders }: ComparedReading): string[] {
  const [first] = contenders
  const rows = contenders.map(({ name, values, median }) => [
    `  ${name}`,
    `${rounded(median)} ${unit}`,
    `${rounded(Math.min(...values))} – ${rounded(Math.max(...values))}`,
    first === undefined ? '' : (first.median / median).toFixed(2),
  ])
  const table = [[name, 'median', 'least – most', `${first?.name ?? ''} / this`], ...rows]
  const widths = table[0]!.map((_, column) => Math.max(...table.map(row => row[column]!.length)))
  return table.map(row =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join('   '),
  )
}

/** Formats a target with the value that was reached. */
export function targetLine({ reading, unit, of, against, is, value, reached, isMet }: JudgedTarget): string {
  const what = against === undefined ? of : `${of} / ${against}`
  const shown = (number: number) => (against === undefined ? `${rounded(number)} ${unit}` : number.toFixed(2))
  return `${isMet ? '✓' : '✗'} ${reading}, ${what}: ${shown(reached)}, to be ${is} ${shown(value)}`
}

function rounded(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(1)
}
