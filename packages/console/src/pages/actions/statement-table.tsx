import { Link } from '@tanstack/react-router'
import type { Statement, StatementLine } from '../../api/statements.ts'
import { formatMoney } from '../../format/money.ts'
import { monthBounds } from '../../parts/period.ts'
import classes from './statements.module.css'
import { KINDS } from './words.ts'

type Category = StatementLine['category']

const CATEGORIES: readonly { category: Category; label: string; search: Record<string, string> }[] = [
  { category: 'made_by_our_software', label: 'Made by our software', search: { verdict: 'explained' } },
  {
    category: 'expected',
    label: 'Made by people: announced or confirmed',
    search: { reason: 'expected_change_matches' },
  },
  { category: 'unexplained', label: 'Unexplained: made by nobody we know', search: { verdict: 'unexplained' } },
  { category: 'pending', label: 'Pending', search: { verdict: 'pending' } },
  { category: 'other', label: 'Other', search: {} },
  { category: 'not_carried_out', label: 'Not carried out', search: {} },
]
interface Row {
  category: Category
  label: string
  search: Record<string, string>
  /** Undefined: the category has no action in this currency. */
  line: StatementLine | undefined
}
/** The categories that a reader looks for, shown with 0 if there is none. */
const ALWAYS: ReadonlySet<Category> = new Set(['made_by_our_software', 'expected', 'unexplained', 'pending', 'other'])

interface TableProps {
  statement: Statement
  /** The lines of one currency or without money, of test mode or not. */
  lines: readonly StatementLine[]
}

/** The lines of a statement that can be added up. Each number links to the list behind it. */
export function StatementTable({ statement, lines }: TableProps) {
  const { currency, mode } = lines[0] ?? { currency: null, mode: null }
  const carriedOut = lines.filter(({ category }) => category !== 'not_carried_out')
  const rows = CATEGORIES.flatMap(({ category, label, search }): Row[] => {
    const own = lines.filter(line => line.category === category)
    if (own.length === 0 && ALWAYS.has(category)) return [{ category, label, search, line: undefined }]
    return own.map(line => ({ category, label, search, line }))
  })
  const title = `${currency === null ? 'Without money' : currency.toUpperCase()}${mode === 'test' ? ', test mode' : ''}`
  return (
    <section className={classes.currency}>
      <h2>{title}</h2>
      <table className={classes.table} aria-label={title}>
        <thead>
          <tr>
            <th scope="col">Category</th>
            <th scope="col">Kind</th>
            <th scope="col" className={classes.number}>
              Number
            </th>
            {currency !== null && (
              <th scope="col" className={classes.number}>
                Sum
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ category, label, search, line }) => (
            <tr key={`${category} ${line?.kind} ${line?.mode}`} data-category={category}>
              <th scope="row">{label}</th>
              {line === undefined ? (
                <Nothing currency={currency} />
              ) : (
                <Line line={line} statement={statement} search={search} />
              )}
            </tr>
          ))}
        </tbody>
        {currency !== null && (
          <tfoot>
            <tr>
              <th scope="row">Carried out</th>
              <td />
              <td className={classes.number}>{sum(carriedOut.map(({ count }) => count)).toLocaleString()}</td>
              <td className={classes.number}>{formatMoney(sum(carriedOut.map(({ amount }) => amount)), currency)}</td>
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  )
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function Nothing({ currency }: { currency: string | null }) {
  return (
    <>
      <td className="faint">–</td>
      <td className={`faint ${classes.number}`}>0</td>
      {currency !== null && <td className={`faint ${classes.number}`}>{formatMoney(0, currency)}</td>}
    </>
  )
}

interface LineProps {
  line: StatementLine
  statement: Statement
  search: Record<string, string>
}

function Line({ line, statement, search }: LineProps) {
  const { kind, mode, count, amount, currency, category } = line
  const { project_id, connection_id, month } = statement
  const tone = category === 'unexplained' ? classes.unexplained : category === 'pending' ? classes.pending : ''
  const { from, to } = monthBounds(month)
  const facts = { ...(currency === null ? {} : { currency }), ...(mode === null ? {} : { mode }) }
  const where = connection_id === null ? {} : { connection_id }
  const behind = { ...search, kind, ...where, ...facts, made_from: from, made_to: to }
  const number = (text: string) => (
    <td className={`${classes.number} ${tone}`}>
      <Link to="/p/$project/actions" params={{ project: project_id }} search={behind as never}>
        {text}
      </Link>
    </td>
  )
  return (
    <>
      <td className="dim">{KINDS.find(({ value }) => value === kind)?.label}</td>
      {number(count.toLocaleString())}
      {currency !== null && number(formatMoney(amount, currency))}
    </>
  )
}
