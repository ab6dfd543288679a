import { showableText } from '@backstop/contracts'

/** One column of a table. Null and undefined are shown as `-`. */
export interface Column<T> {
  readonly title: string
  readonly of: (item: T) => string | number | null | undefined
}

/** The items as lines of aligned columns, below a line of titles. */
export function tableOf<T>(columns: readonly Column<T>[], items: readonly T[]): string {
  const rows = [
    columns.map(({ title }) => title),
    ...items.map(item => columns.map(({ of }) => showableText(String(of(item) ?? '-')))),
  ]
  const widths = columns.map((_, at) => Math.max(...rows.map(row => row[at]?.length ?? 0)))
  return rows
    .map(
      row =>
        `${row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** Names and values, one per line. */
export function factsOf(facts: readonly (readonly [name: string, value: string | null | undefined])[]): string {
  const width = Math.max(...facts.map(([name]) => name.length))
  return facts.map(([name, value]) => `${name.padEnd(width)}  ${showableText(value ?? '-')}\n`).join('')
}

/** A time for people to read, without milliseconds. */
export function shownTime(iso: string): string {
  return iso.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')
}
