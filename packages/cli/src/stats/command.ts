import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Api } from '@backstop/client'
import { formatMoney } from '@backstop/contracts'
import { type Command, InvalidArgumentError } from 'commander'
import { addCommand } from '../add-command.ts'
import { openClient } from '../open-client.ts'
import { type JsonOption, printItem } from '../output/print.ts'
import { factsOf, shownTime, tableOf } from '../output/table.ts'
import { readTime } from '../read-time.ts'
import type { Surroundings } from '../surroundings.ts'

type Stats = Awaited<ReturnType<Api['stats']['get']>>
type Statement = Awaited<ReturnType<Api['statements']['get']>>

interface Period extends JsonOption {
  readonly project?: string
  readonly connection?: string
  readonly from?: string
  readonly to?: string
}

interface StatementOptions extends JsonOption {
  readonly month: string
  readonly csv?: string
}

/** `backstop stats` and `backstop statements` */
export function addStats(program: Command, surroundings: Surroundings): void {
  addCommand(
    program,
    'stats',
    'Count refunds and cancellations by verdict, kind, currency and mode, with the median times.',
    'backstop stats --from 7d',
  )
    .option('--project <id>', 'only this project')
    .option('--connection <id>', 'only this connection')
    .option('--from <time>', 'first day: 2026-11-21, or an age such as 7d; 30 days ago by default')
    .option('--to <time>', 'the day after the last one; the end of today by default')
    .action(async ({ project, connection, from, to, ...options }: Period) => {
      const iso = (name: string, text: string) => new Date(readTime(name, text, surroundings.now())).toISOString()
      const stats = await openClient(surroundings).stats.get({
        ...(project === undefined ? {} : { project_id: project }),
        ...(connection === undefined ? {} : { connection_id: connection }),
        ...(from === undefined ? {} : { from: iso('--from', from) }),
        ...(to === undefined ? {} : { to: iso('--to', to) }),
      })
      printItem(stats, statsText(stats), options, surroundings)
    })
  addCommand(
    program,
    'statements <id>',
    'Show the monthly statement of a connection or of all connections of a project, or write it to a CSV file.',
    'backstop statements con_0123 --month 2026-11 --csv statement.csv',
  )
    .requiredOption('--month <month>', 'the month in UTC, e.g. 2026-11', parseMonth)
    .option('--csv <file>', 'write the statement as CSV to this file')
    .action(async (id: string, { month, csv, ...options }: StatementOptions) => {
      const client = openClient(surroundings)
      const query = { ...(id.startsWith('prj_') ? { project_id: id } : { connection_id: id }), month }
      const statement = await client.statements.get(query)
      if (csv === undefined) return printItem(statement, statementText(statement), options, surroundings)
      const csvQuery = { ...query, format: 'csv' }
      const answer = await client.request('GET', '/v1/statements', { query: csvQuery, headers: { accept: 'text/csv' } })
      writeFileSync(resolve(surroundings.folder, csv), await answer.text())
      const counting = statement.recount_pending
        ? '; a day is being counted again, so write it again before you file it'
        : ''
      printItem(statement, `Wrote ${csv}${counting}\n`, options, surroundings)
    })
}

function parseMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text
  throw new InvalidArgumentError('Give a year and a month, such as 2026-11.')
}

const COUNT_COLUMNS = [
  { title: 'KIND', of: ({ kind }: { kind: string }) => kind },
  { title: 'MODE', of: ({ mode }: { mode: string | null }) => mode },
  { title: 'COUNT', of: ({ count }: { count: number }) => count },
  {
    title: 'AMOUNT',
    of: ({ amount, currency }: { amount: number; currency: string | null }) =>
      currency === null ? null : formatMoney(amount, currency),
  },
]

function statsText({ from, to, totals, times, recount_pending }: Stats): string {
  const median = ({ median_ms, count }: Stats['times']['verdict']) =>
    median_ms === null ? null : `${Math.round(median_ms / 1000)} s (${count})`
  const facts = factsOf([
    ['From', shownTime(from)],
    ['To', shownTime(to)],
    ['Median to verdict', median(times.verdict)],
    ['Median to acknowledgement', median(times.acknowledgement)],
    ['Median to resolution', median(times.resolution)],
    ...(recount_pending ? [['Counting', 'a day is being counted again'] as const] : []),
  ])
  const columns = [{ title: 'VERDICT', of: ({ verdict }: Stats['totals'][number]) => verdict }, ...COUNT_COLUMNS]
  return `${facts}\n${totals.length === 0 ? 'None.\n' : tableOf(columns, totals)}`
}

function statementText({ month, lines, recount_pending }: Statement): string {
  const columns = [{ title: 'CATEGORY', of: ({ category }: Statement['lines'][number]) => category }, ...COUNT_COLUMNS]
  const counting = recount_pending ? 'A day is being counted again: show it again before you file it.\n' : ''
  return `${month}\n${lines.length === 0 ? 'None.\n' : tableOf(columns, lines)}${counting}`
}
