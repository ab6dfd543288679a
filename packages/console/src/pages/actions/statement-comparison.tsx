import { CATEGORY_WORDS } from '@backstop/contracts/completeness-words'
import { useQuery } from '@tanstack/react-query'
import { type StatementLine, type statementParams, statementQuery } from '../../api/actions.ts'
import { formatMoney } from '../../format/money.ts'
import { Read } from '../../parts/page/index.ts'
import { SkeletonLines } from '../../parts/show/index.ts'
import classes from './statement-comparison.module.css'
import { tablesOf } from './statement-lines.ts'
import { KINDS } from './words.ts'

interface Compared {
  /** The period in words. */
  name: string
  lines: readonly StatementLine[]
}

interface Props {
  first: Compared
  /** The other period in words, and the query of its statement. */
  other: string
  params: ReturnType<typeof statementParams>
}

/** Two periods side by side: a table for each currency, with number and sum of each category and kind in both. */
export function StatementComparison({ first, other, params }: Props) {
  return (
    <Read
      query={useQuery(statementQuery(params))}
      what={`The statement of ${other} could not be read`}
      loading={<SkeletonLines />}
    >
      {({ lines }) => <Tables periods={[first, { name: other, lines }]} />}
    </Read>
  )
}

function Tables({ periods }: { periods: readonly [Compared, Compared] }) {
  const tables = tablesOf(periods.flatMap(({ lines }) => lines))
  if (tables.length === 0) {
    return <p className="dim">There was no refund, cancellation or other change in these periods.</p>
  }
  return tables.map(([key, lines]) => <Comparison key={key} periods={periods} lines={lines} />)
}

function Comparison({ periods, lines }: { periods: readonly [Compared, Compared]; lines: readonly StatementLine[] }) {
  const { currency, mode } = lines[0] ?? { currency: null, mode: null }
  const title = `${currency === null ? 'Without money' : currency.toUpperCase()}${mode === 'test' ? ', test mode' : ''}`
  const rows = Object.entries(CATEGORY_WORDS).flatMap(([category, label]) =>
    KINDS.filter(({ value }) => lines.some(line => line.category === category && line.kind === value)).map(kind => ({
      ...{ category, label, kind },
    })),
  )
  return (
    <section className={classes.comparison}>
      <h2>{title}</h2>
      <table className={classes.compared} aria-label={title}>
        <thead>
          <tr>
            <th scope="col">Category</th>
            <th scope="col">Kind</th>
            {periods.map(({ name }) => (
              <th key={name} scope="col" className={classes.number} colSpan={currency === null ? 1 : 2}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ category, label, kind }) => (
            <tr key={`${category} ${kind.value}`}>
              <th scope="row">{label}</th>
              <td className="dim">{kind.label}</td>
              {periods.map(period => (
                <Numbers
                  key={period.name}
                  period={period.name}
                  lines={period.lines.filter(
                    line =>
                      line.category === category && line.kind === kind.value && isOfTable(line, { currency, mode }),
                  )}
                  currency={currency}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function isOfTable(line: StatementLine, { currency, mode }: Pick<StatementLine, 'currency' | 'mode'>): boolean {
  return line.currency === currency && (line.mode === 'test') === (mode === 'test')
}

interface NumbersProps {
  /** For phones, where the heading is not shown. */
  period: string
  lines: readonly StatementLine[]
  currency: string | null
}

function Numbers({ period, lines, currency }: NumbersProps) {
  const count = lines.reduce((sum, line) => sum + line.count, 0)
  const amount = lines.reduce((sum, line) => sum + line.amount, 0)
  return (
    <>
      <td className={classes.number} data-period={period}>
        {count.toLocaleString('en')}
      </td>
      {currency !== null && <td className={classes.number}>{formatMoney(amount, currency)}</td>}
    </>
  )
}
