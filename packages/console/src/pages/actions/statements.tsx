import { Button, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import * as z from 'zod/mini'
import { type Statement, type StatementLine, statementParams, statementQuery } from '../../api/actions.ts'
import { connectionQuery, connectionsQuery } from '../../api/connections.ts'
import { FilterBar, monthOf, nameMonth, SearchChoiceFilter, useFilters } from '../../parts/filters/index.ts'
import { PageHead, ProjectLink, Read, useProjectId } from '../../parts/page/index.ts'
import { connectionOptions } from './connection-options.ts'
import { StatementActors } from './statement-actors.tsx'
import { StatementTable } from './statement-table.tsx'
import classes from './statements.module.css'

const MONTHS = 24
const FILTERS = {
  month: z.string().check(z.regex(/^\d{4}-(0[1-9]|1[0-2])$/)),
  connection_id: z.string(),
}

/** The money of a month by category, of one connection or of all connections of the project, for finance. */
export function Page() {
  const project_id = useProjectId()
  const [filters, , bind] = useFilters(FILTERS)
  const id = filters.connection_id
  const { data: connections } = useQuery(connectionsQuery(project_id))
  const { data: connection } = useQuery({ ...connectionQuery(project_id, id ?? ''), enabled: id !== undefined })
  const name = connection?.name ?? id
  const month = filters.month ?? monthOf(Date.now())
  const params = statementParams(project_id, id, month)
  const months = Array.from({ length: MONTHS }, (_, ago) => monthOf(Date.now(), -ago))
  const isUnconnected = connections?.length === 0 && id === undefined
  return (
    <>
      <PageHead
        title={`Statement of ${nameMonth(month)}`}
        about={
          <>{name === undefined ? 'All connections' : <bdi>{name}</bdi>}. The month begins and ends at midnight UTC.</>
        }
        actions={<Outputs params={params} />}
      />
      <FilterBar>
        <SearchChoiceFilter
          label="Month"
          options={months.map(value => ({ value, label: nameMonth(value) }))}
          {...bind('month')}
        />
        <SearchChoiceFilter
          label="All connections"
          options={connectionOptions(connections ?? [], { id, name })}
          {...bind('connection_id')}
        />
      </FilterBar>
      <div className="body">
        <Read
          query={useQuery(statementQuery(params))}
          what="The statement could not be read"
          loading={<Skeleton height={280} width="min(100%, 720px)" />}
        >
          {statement =>
            isUnconnected && statement.lines.length === 0 ? (
              <>
                <p className="dim">
                  A statement counts what the connections of a project show, and this project has none yet.
                </p>
                <p>
                  <ProjectLink page="connections">Connect an account</ProjectLink>
                </p>
              </>
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

function csvHref(params: ReturnType<typeof statementParams>, by: 'category' | 'actor'): string {
  return `/v1/statements?${new URLSearchParams({ ...params, format: 'csv', by })}`
}

function Outputs({ params }: { params: ReturnType<typeof statementParams> }) {
  return (
    <>
      <Button variant="default" onClick={() => window.print()}>
        Print
      </Button>
      <Button
        component="a"
        variant="default"
        href={csvHref(params, 'category')}
        download={`statement-${params.month}.csv`}
      >
        Download CSV
      </Button>
    </>
  )
}

function Tables({ statement, connectionName }: { statement: Statement; connectionName: string | undefined }) {
  const { lines, recount_pending } = statement
  return (
    <>
      {recount_pending && (
        <p className={classes.recount} role="status">
          A day of this month has just changed and is being counted again. The numbers change within seconds.
        </p>
      )}
      {lines.length === 0 && !recount_pending && (
        <p className="dim">
          {connectionName === undefined ? 'No connection' : <bdi>{connectionName}</bdi>} had{' '}
          {connectionName === undefined ? 'a' : 'no'} refund, cancellation or other change in this month.
        </p>
      )}
      {tablesOf(lines).map(([key, own]) => (
        <StatementTable key={key} statement={statement} lines={own} />
      ))}
      {lines.length > 0 && (
        <p className={`faint ${classes.note}`}>
          Each refund or cancellation is in exactly one line, in the month in which the provider made it. People
          announce a change as expected, or confirm it afterwards with “This was us”. “Other” needs no explanation or no
          alert, for example because it was made before the connection.
        </p>
      )}
    </>
  )
}

/** The lines by currency, test money last. Lines without money come after the currencies. */
function tablesOf(lines: readonly StatementLine[]): [string, StatementLine[]][] {
  const keyOf = ({ currency, mode }: StatementLine) => `${mode === 'test' ? 'test' : 'real'} ${currency ?? '~'}`
  return [...Map.groupBy(lines, keyOf)].toSorted(([one], [other]) => (one < other ? -1 : 1))
}
