import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Statement, Stats } from '@backstop/client'
import { formatMoney } from '@backstop/contracts'
import { type Command, InvalidArgumentError } from 'commander'
import { addCommand, choiceOption, given } from '../define-command.ts'
import { type Column, factsOf, shownTime, tableOf } from '../output/table.ts'
import { readIsoTime } from '../read-time.ts'
import type { Surroundings } from '../surroundings.ts'

interface Period {
  readonly project?: string
  readonly connection?: string
  readonly account?: string
  readonly from?: string
  readonly to?: string
}

interface StatementOptions {
  readonly month?: string
  readonly from?: string
  readonly to?: string
  readonly by: 'category' | 'actor'
  readonly csv?: string
}

/** `backstop stats` and `backstop statements` */
export function addStats(program: Command, surroundings: Surroundings): void {
  addCommand(program, surroundings, {
    usage: 'stats',
    summary: 'Count refunds and cancellations by verdict, kind, currency and mode, with the median times.',
    examples: ['backstop stats --from 7d'],
    options: [
      ['--project <id>', 'only this project'],
      ['--connection <id>', 'only this connection'],
      ['--account <id>', 'only this connected account of the card processor'],
      ['--from <time>', 'first day: 2026-11-21, or an age such as 7d; 30 days ago by default'],
      ['--to <time>', 'the day after the last one; the end of today by default'],
    ],
    async run({ client, now }, { project, connection, account, from, to }: Period) {
      const times = { from: readIsoTime('--from', from, now()), to: readIsoTime('--to', to, now()) }
      const stats = await client.stats.get(given({ project_id: project, connection_id: connection, account, ...times }))
      return { item: stats, text: statsText(stats) }
    },
  })
  addCommand(program, surroundings, {
    usage: 'statements <id>',
    summary:
      'Show the statement of a connection or of all connections of a project for a month or another period, or write it to a CSV file.',
    examples: [
      'backstop statements con_0123 --month 2026-11 --csv statement.csv',
      'backstop statements con_0123 --from 2026-07-01 --to 2026-10-01',
    ],
    options: [
      ['--month <month>', 'the month in UTC, e.g. 2026-11', parseMonth],
      ['--from <day>', 'in place of --month: the first day in UTC, e.g. 2026-07-01'],
      ['--to <day>', 'the day after the last one, e.g. 2026-10-01'],
      choiceOption('--by <lines>', 'the lines: by category, or by actor', ['category', 'actor']).default('category'),
      ['--csv <file>', 'write the statement as CSV to this file'],
    ],
    async run({ client, folder }, { month, from, to, by, csv }: StatementOptions, id) {
      const about = id.startsWith('prj_') ? { project_id: id } : { connection_id: id }
      const query = given({ ...about, month, from, to })
      const statement = await client.statements.get(query)
      if (csv === undefined) return { item: statement, text: statementText(statement, by) }
      const headers = { accept: 'text/csv' }
      const answer = await client.request('GET', '/v1/statements', { query: { ...query, format: 'csv', by }, headers })
      writeFileSync(resolve(folder, csv), await answer.text())
      const counting = statement.recount_pending
        ? '; a day is being counted again, so write it again before you file it'
        : ''
      return { item: statement, text: `Wrote ${csv}${counting}\n` }
    },
  })
}

function parseMonth(text: string): string {
  if (/^\d{4}-(0[1-9]|1[0-2])$/.test(text)) return text
  throw new InvalidArgumentError('Give a year and a month, such as 2026-11.')
}

const COUNT_COLUMNS: readonly Column<
  Pick<Statement['lines'][number], 'kind' | 'mode' | 'count' | 'amount' | 'currency'>
>[] = [
  { title: 'KIND', of: ({ kind }) => kind },
  { title: 'MODE', of: ({ mode }) => mode },
  { title: 'COUNT', of: ({ count }) => count },
  { title: 'AMOUNT', of: ({ amount, currency }) => (currency === null ? null : formatMoney(amount, currency)) },
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

function statementText(statement: Statement, by: StatementOptions['by']): string {
  const { month, recount_pending } = statement
  const table = by === 'actor' ? actorsTable(statement) : categoriesTable(statement)
  const counting = recount_pending ? 'A day is being counted again: show it again before you file it.\n' : ''
  return `${month}\n${table}${counting}`
}

function categoriesTable({ lines }: Statement): string {
  const columns = [{ title: 'CATEGORY', of: ({ category }: Statement['lines'][number]) => category }, ...COUNT_COLUMNS]
  return lines.length === 0 ? 'None.\n' : tableOf(columns, lines)
}

function actorsTable({ actors, actors_complete }: Statement): string {
  type Line = Statement['actors'][number]
  const columns = [{ title: 'ACTOR', of: ({ actor_id, actor_name }: Line) => actor_name ?? actor_id }, ...COUNT_COLUMNS]
  if (actors.length === 0) return 'None.\n'
  return `${tableOf(columns, actors)}${actors_complete ? '' : 'These are the lines with the most actions. There are more.\n'}`
}
