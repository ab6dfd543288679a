import { CATEGORY_WORDS } from '@backstop/contracts/completeness-words'
import type { Statement, StatementLine } from '../../api/actions.ts'
import { formatMoney } from '../../format/money.ts'
import { ProjectLink } from '../../parts/page/index.ts'
import { searchOf } from './statement-links.ts'
import classes from './statements.module.css'
import { KINDS } from './words.ts'

type Category = StatementLine['category']

const CATEGORIES = Object.entries(CATEGORY_WORDS) as [Category, string][]

interface Row {
  category: Category
  label: string
  /** The lines of one kind: those of live money, and of providers without modes. None if there is no such action in this currency. */
  lines: readonly StatementLine[]
}

/** The categories that a reader looks for, shown with 0 if there is none. */
const ALWAYS: ReadonlySet<Category> = new Set(['made_by_our_software', 'expected', 'unexplained', 'pending'])

interface TableProps {
  statement: Statement
  /** The lines of one currency or without money, of test mode or not. */
  lines: readonly StatementLine[]
}

/** The lines of a statement that can be added up. A number links to its actions, if a list shows exactly these. */
export function StatementTable({ statement, lines }: TableProps) {
  const { currency, mode } = lines[0] ?? { currency: null, mode: null }
  const carriedOut = lines.filter(({ category }) => category !== 'not_carried_out')
  const rows = CATEGORIES.flatMap(([category, label]): Row[] => {
    const own = lines.filter(line => line.category === category)
    if (own.length === 0 && ALWAYS.has(category)) return [{ category, label, lines: [] }]
    return [...Map.groupBy(own, ({ kind }) => kind).values()].map(ofKind => ({ category, label, lines: ofKind }))
  })
  const title = `${currency === null ? 'Without money' : currency.toUpperCase()}${mode === 'test' ? ', test mode' : ''}`
  return (
    <section className={classes.currency}>
      <h2>{title}</h2>
      <table className={classes.table} aria-label={title}>
        <StatementHead first="Category" hasSum={currency !== null} />
        <tbody>
          {rows.map(({ category, label, lines: [first, ...others] }) => (
            <tr key={`${category} ${first?.kind}`} data-category={category}>
              <th scope="row">{label}</th>
              {first === undefined ? (
                <Nothing currency={currency} />
              ) : (
                <Numbers lines={[first, ...others]} statement={statement} />
              )}
            </tr>
          ))}
        </tbody>
        {currency !== null && (
          <tfoot>
            <tr>
              <th scope="row">Without failed or canceled</th>
              <td />
              <td className={classes.number}>{sum(carriedOut.map(({ count }) => count)).toLocaleString('en')}</td>
              <td className={classes.number}>{formatMoney(sum(carriedOut.map(({ amount }) => amount)), currency)}</td>
            </tr>
          </tfoot>
        )}
      </table>
    </section>
  )
}

/** The headings of a table of a statement. */
export function StatementHead({ first, hasSum }: { first: string; hasSum: boolean }) {
  return (
    <thead>
      <tr>
        <th scope="col">{first}</th>
        <th scope="col">Kind</th>
        <th scope="col" className={classes.number}>
          Number
        </th>
        {hasSum && (
          <th scope="col" className={classes.number}>
            Sum
          </th>
        )}
      </tr>
    </thead>
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

interface NumbersProps {
  lines: readonly [StatementLine, ...StatementLine[]]
  statement: Statement
}

function Numbers({ lines, statement }: NumbersProps) {
  const { kind, currency, category } = lines[0]
  const { connection_id, from, to } = statement
  const tone = category === 'unexplained' ? classes.unexplained : category === 'pending' ? classes.pending : ''
  const search = searchOf(lines, statement.lines)
  const where = connection_id === null ? {} : { connection_id }
  const number = (text: string) => (
    <td className={`${classes.number} ${tone}`}>
      {search === undefined ? (
        text
      ) : (
        <ProjectLink page="actions" className="" search={{ ...search, ...where, made_from: from, made_to: to }}>
          {text}
        </ProjectLink>
      )}
    </td>
  )
  return (
    <>
      <td className="dim">{KINDS.find(({ value }) => value === kind)?.label}</td>
      {number(sum(lines.map(({ count }) => count)).toLocaleString('en'))}
      {currency !== null && number(formatMoney(sum(lines.map(({ amount }) => amount)), currency))}
    </>
  )
}
