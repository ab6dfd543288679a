import { CATEGORY_WORDS } from '@backstop/contracts/completeness-words'
import type { StatementLine } from '../../api/actions.ts'

type Category = StatementLine['category']
type Search = Readonly<Record<string, string>>

interface Nearest {
  readonly search: Search
  /** The categories whose actions pass the filters. */
  readonly shows: readonly Category[]
}

const ALL = Object.keys(CATEGORY_WORDS) as Category[]
/** The filters of the list of actions that fit a category best. None leaves out what was not carried out. */
const NEAREST: Record<Category, Nearest> = {
  made_by_our_software: {
    search: { verdict: 'explained' },
    shows: ['made_by_our_software', 'expected', 'other', 'not_carried_out'],
  },
  expected: { search: { reason: 'expected_change_matches' }, shows: ['expected', 'not_carried_out'] },
  unexplained: { search: { verdict: 'unexplained' }, shows: ['unexplained', 'not_carried_out'] },
  pending: { search: { verdict: 'pending' }, shows: ['pending', 'not_carried_out'] },
  out_of_band_ignored: { search: { reason: 'out_of_band_ignore' }, shows: ['out_of_band_ignored', 'not_carried_out'] },
  other: { search: {}, shows: ALL },
  not_carried_out: { search: {}, shows: ALL },
}

/**
 * The filters of the list that shows exactly the actions of a row; undefined if the nearest list shows others too.
 * @param row lines of one category, kind and currency. Some providers state no mode, so they may have two modes
 * @param lines all lines of the statement
 */
export function searchOf(row: readonly StatementLine[], lines: readonly StatementLine[]): Search | undefined {
  const [first] = row
  if (first === undefined) return undefined
  const { category, kind, currency } = first
  const mode = row.every(line => line.mode === first.mode) ? first.mode : null
  const { search, shows } = NEAREST[category]
  const shown = lines.filter(
    other =>
      shows.includes(other.category) &&
      other.kind === kind &&
      (currency === null || other.currency === currency) &&
      (mode === null || other.mode === mode),
  )
  if (!shown.every(line => row.includes(line))) return undefined
  return { ...search, kind, ...(currency === null ? {} : { currency }), ...(mode === null ? {} : { mode }) }
}
