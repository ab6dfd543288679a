import type { StatementLine } from '../../api/actions.ts'

/** The lines by currency, test money last. Lines without money come after the currencies. */
export function tablesOf(lines: readonly StatementLine[]): [string, StatementLine[]][] {
  const keyOf = ({ currency, mode }: StatementLine) => `${mode === 'test' ? 'test' : 'real'} ${currency ?? '~'}`
  return [...Map.groupBy(lines, keyOf)].toSorted(([one], [other]) => (one < other ? -1 : 1))
}
