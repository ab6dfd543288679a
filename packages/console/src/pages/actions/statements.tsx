import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import * as z from 'zod/mini'
import { type Statement, statementParams, statementQuery } from '../../api/actions.ts'
import {
  type DayRange,
  FilterBar,
  monthOf,
  monthOfRange,
  nameRange,
  RangeFilter,
  rangeBefore,
  rangeOfMonth,
  SearchChoiceFilter,
  useFilters,
} from '../../parts/filters/index.ts'
import { PageHead, ProjectLink, Read, useProjectId } from '../../parts/page/index.ts'
import { SkeletonLines } from '../../parts/show/index.ts'
import { StatementActors } from './statement-actors.tsx'
import { StatementComparison } from './statement-comparison.tsx'
import { tablesOf } from './statement-lines.ts'
import { StatementTable } from './statement-table.tsx'
import classes from './statements.module.css'
import { useConnectionChoice } from './use-connection-choice.ts'

const DAY = z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/))
const FILTERS = {
  month: z.string().check(z.regex(/^\d{4}-(0[1-9]|1[0-2])$/)),
  from: DAY,
  to: DAY,
  /** The period beside it. */
  with_from: DAY,
  with_to: DAY,
  connection_id: z.string(),
}

/** The money of a period by category, of one connection or of all connections of the project, for finance. */
export function Page() {
  const project_id = useProjectId()
  const [filters, change, bind] = useFilters(FILTERS)
  const id = filters.connection_id
  const { name, options, hasNone } = useConnectionChoice(project_id, id)
  const whole = rangeOfMonth(filters.month ?? monthOf(Date.now()))
  const range = { from: filters.from ?? whole.from, to: filters.to ?? whole.to }
  const params = statementParams(project_id, id, periodOf(range))
  const other = rangeFrom(filters.with_from, filters.with_to)
  const periods = other === undefined || nameRange(other) === nameRange(range) ? [range] : [range, other]
  const isUnconnected = hasNone && id === undefined
  return (
    <>
      <PageHead
        title={`Statement of ${nameRange(range)}`}
        about={
          <>
            {name === undefined ? 'All connections' : <bdi>{name}</bdi>}. Days begin at midnight UTC.{' '}
            <Links connection_id={id} range={range} isCompared={other !== undefined} />
          </>
        }
        actions={
          <Outputs
            statements={periods.map(period => ({
              period: nameRange(period),
              href: csvHref(statementParams(project_id, id, periodOf(period)), 'category'),
            }))}
          />
        }
      />
      <FilterBar>
        <RangeFilter
          label="Period"
          value={range}
          onChange={chosen => {
            const { from, to } = chosen === undefined ? {} : { ...range, ...chosen }
            change({ month: undefined, from, to })
          }}
        />
        <RangeFilter
          label="Compare with"
          value={other}
          onChange={chosen => {
            const { from, to } = chosen === undefined ? {} : { ...(other ?? range), ...chosen }
            change({ with_from: from, with_to: to })
          }}
        />
        <SearchChoiceFilter label="All connections" options={options} {...bind('connection_id')} />
      </FilterBar>
      <div className="body">
        <Read
          query={useQuery(statementQuery(params))}
          what="The statement could not be read"
          loading={<SkeletonLines />}
        >
          {statement =>
            isUnconnected && statement.lines.length === 0 ? (
              <Unconnected />
            ) : other !== undefined ? (
              <StatementComparison
                first={{ name: nameRange(range), lines: statement.lines }}
                other={nameRange(other)}
                params={statementParams(project_id, id, periodOf(other))}
              />
            ) : (
              <>
                <Tables statement={statement} connectionName={name} />
                <StatementActors statement={statement} csvHref={csvHref(params, 'actor')} />
              </>
            )
          }
        </Read>
      </div>
    </>
  )
}

interface LinksProps {
  connection_id: string | undefined
  range: DayRange
  isCompared: boolean
}

/** To the proof that the statement is complete, and to the period before beside this one. */
function Links({ connection_id, range, isCompared }: LinksProps) {
  const { from, to } = rangeBefore(range)
  return (
    <span className="screen-only">
      <ProjectLink page="completeness" search={{ connection_id, ...range }}>
        Was everything read and judged?
      </ProjectLink>{' '}
      {!isCompared && (
        <ProjectLink page="statements" search={{ connection_id, ...range, with_from: from, with_to: to }}>
          Compare with {nameRange({ from, to })}
        </ProjectLink>
      )}
    </span>
  )
}

function Unconnected() {
  return (
    <>
      <p className="dim">A statement counts what the connections of a project show, and this project has none yet.</p>
      <p>
        <ProjectLink page="connections">Connect an account</ProjectLink>
      </p>
    </>
  )
}

function rangeFrom(from: string | undefined, to: string | undefined): DayRange | undefined {
  return from === undefined || to === undefined ? undefined : { from, to }
}

/** A month is named as such, because a service of an earlier version knows nothing else. */
function periodOf(range: DayRange) {
  const month = monthOfRange(range)
  return month === undefined ? { from: range.from, to: range.to } : { month }
}

function csvHref(params: ReturnType<typeof statementParams>, by: 'category' | 'actor'): string {
  return `/v1/statements?${new URLSearchParams({ ...params, format: 'csv', by })}`
}

/** A print of the page, and the file of each period that it shows. */
function Outputs({ statements }: { statements: readonly { period: string; href: string }[] }) {
  return (
    <>
      <Button variant="default" onClick={() => window.print()}>
        Print
      </Button>
      {statements.map(({ period, href }) => (
        <Button key={href} component="a" variant="default" href={href} download>
          {statements.length === 1 ? 'Download CSV' : `Download CSV of ${period}`}
        </Button>
      ))}
    </>
  )
}

function Tables({ statement, connectionName }: { statement: Statement; connectionName: string | undefined }) {
  const { lines, recount_pending } = statement
  return (
    <>
      {recount_pending && (
        <p className={classes.recount} role="status">
          A day of this period has just changed and is being counted again. The numbers change within seconds.
        </p>
      )}
      {lines.length === 0 && !recount_pending && (
        <p className="dim">
          {connectionName === undefined ? 'No connection' : <bdi>{connectionName}</bdi>} had{' '}
          {connectionName === undefined ? 'a' : 'no'} refund, cancellation or other change in this period.
        </p>
      )}
      {tablesOf(lines).map(([key, own]) => (
        <StatementTable key={key} statement={statement} lines={own} />
      ))}
      {lines.length > 0 && (
        <p className={`faint ${classes.note}`}>
          Each refund or cancellation is in exactly one line, on the day on which the provider made it. People announce
          a change as expected, or confirm it afterwards with “This was us”. “Other” needs no explanation or no alert,
          for example because it was made before the connection.
        </p>
      )}
    </>
  )
}
