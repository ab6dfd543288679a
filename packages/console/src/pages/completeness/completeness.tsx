import {
  answerWords,
  completenessFacts,
  interruptionWords,
  limitWords,
  outageWords,
  type ShownValues,
} from '@backstop/contracts/completeness-words'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import * as z from 'zod/mini'
import { type Completeness, completenessQuery } from '../../api/completeness.ts'
import { formatExactTime } from '../../format/times.ts'
import {
  FilterBar,
  lastDays,
  nameRange,
  quarterOf,
  RangeFilter,
  SearchChoiceFilter,
  useFilters,
  yesterdayOf,
} from '../../parts/filters/index.ts'
import { PageHead, Part, ProjectLink, Read, useProjectId } from '../../parts/page/index.ts'
import { Facts, SkeletonLines } from '../../parts/show/index.ts'
import { useConnectionChoice } from '../actions/use-connection-choice.ts'
import { PROVIDERS } from '../connections/words.ts'
import classes from './completeness.module.css'

const DAY = z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/))
const FILTERS = { from: DAY, to: DAY, connection_id: z.string() }
const DATE = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
const SHOWN: ShownValues = {
  // A day begins at midnight UTC, also for a reader of another zone.
  time: at =>
    at.endsWith('T00:00:00.000Z') ? `${DATE.format(Date.parse(at))}, 00:00 UTC` : formatExactTime(Date.parse(at)),
  count: number => number.toLocaleString('en'),
}

/** Whether every refund and cancellation of a period was read and judged, for auditors and for people on call. */
export function Page() {
  const project_id = useProjectId()
  const [filters, change, bind] = useFilters(FILTERS)
  const id = filters.connection_id
  const { name, options } = useConnectionChoice(project_id, id)
  const nowMs = Date.now()
  const { from, to } = lastDays(nowMs, 30)
  const lastQuarter = quarterOf(nowMs, -1)
  const range = { from: filters.from ?? from, to: filters.to ?? to }
  const params = { ...(id === undefined ? { project_id } : { project_id, connection_id: id }), ...range }
  return (
    <>
      <PageHead
        title={`Completeness of ${nameRange(range)}`}
        about={
          <>
            {name === undefined ? 'All connections' : <bdi>{name}</bdi>}. Was every refund and cancellation read at the
            provider and judged? Days begin at midnight UTC.{' '}
            <span className="screen-only">
              See{' '}
              <ProjectLink page="completeness" search={{ connection_id: id, ...yesterdayOf(nowMs) }}>
                yesterday
              </ProjectLink>
              {' or '}
              <ProjectLink page="completeness" search={{ connection_id: id, ...lastQuarter }}>
                {nameRange(lastQuarter)}
              </ProjectLink>
              .
            </span>
          </>
        }
        actions={<Outputs params={params} />}
      />
      <FilterBar>
        <RangeFilter
          label="Period"
          value={range}
          onChange={chosen =>
            change(chosen === undefined ? { from: undefined, to: undefined } : { ...range, ...chosen })
          }
        />
        <SearchChoiceFilter label="All connections" options={options} {...bind('connection_id')} />
      </FilterBar>
      <div className={`body ${classes.statement}`}>
        <Read
          query={useQuery(completenessQuery(params))}
          what="The statement could not be read"
          loading={<SkeletonLines />}
        >
          {statement => <Statement statement={statement} />}
        </Read>
      </div>
    </>
  )
}

function Outputs({ params }: { params: Record<string, string> }) {
  return (
    <>
      <Button variant="default" onClick={() => window.print()}>
        Print
      </Button>
      <Button
        component="a"
        variant="default"
        href={`/v1/completeness/export?${new URLSearchParams(params)}`}
        download
        title="The statement in words, with a signature that anybody can verify (docs/completeness.md)"
      >
        Download signed
      </Button>
    </>
  )
}

function Statement({ statement }: { statement: Completeness }) {
  const { connections, connections_complete, project_name, made_at } = statement
  return (
    <>
      {connections.length === 0 && <p className="dim">This project had no connection in this period.</p>}
      {connections.map(one => (
        <Account key={one.connection_id} one={one} />
      ))}
      {!connections_complete && <p className="dim">These are the 100 newest connections. Choose another one above.</p>}
      <Part title="Outages of Backstop">
        <Sentences texts={outageWords(statement, SHOWN)} />
      </Part>
      <p className={`faint ${classes.made}`}>
        Stated for the project <bdi>{project_name}</bdi> on {SHOWN.time(made_at)}.
      </p>
    </>
  )
}

function Account({ one }: { one: Completeness['connections'][number] }) {
  const { connection_id, connection_name, provider, answer } = one
  return (
    <Part title={connection_name}>
      <p className="dim">
        {PROVIDERS[provider]} ·{' '}
        <ProjectLink page="connections" id={connection_id}>
          the connection
        </ProjectLink>
      </p>
      <p className={classes.answer} data-answer={answer}>
        {answerWords(one, SHOWN)}
      </p>
      <Sentences texts={interruptionWords(one, SHOWN)} />
      <Facts facts={completenessFacts(one, SHOWN).map(({ label, value }) => [label, value])} />
      {one.limits.length > 0 && (
        <>
          <h3 className={classes.limits}>What this cannot say</h3>
          <Sentences texts={limitWords(one, SHOWN)} />
        </>
      )}
    </Part>
  )
}

function Sentences({ texts }: { texts: readonly string[] }) {
  if (texts.length === 0) return null
  return (
    <ul className={classes.sentences}>
      {texts.map(text => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  )
}
