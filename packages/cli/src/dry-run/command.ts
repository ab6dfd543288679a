import type { Connection } from '@backstop/client'
import { OutOfBand } from '@backstop/contracts'
import type { Command } from 'commander'
import { findConnection } from '../connections/find-connection.ts'
import { addCommand, type Context, choiceOption, given, parseRepeatHours } from '../define-command.ts'
import { CommandFault } from '../exit-code.ts'
import { chooseProject } from '../projects/choose-project.ts'
import { readIsoTime } from '../read-time.ts'
import type { Surroundings } from '../surroundings.ts'
import { dryRunText } from './report.ts'

interface DryRunOptions {
  readonly outOfBand?: OutOfBand
  readonly refundedTwiceWithin?: number
  readonly from?: string
  readonly to?: string
  readonly project?: string
  readonly connection?: string
  readonly account?: string
  readonly json?: true
}

/** `backstop dry-run` */
export function addDryRun(program: Command, surroundings: Surroundings): void {
  addCommand(program, surroundings, {
    usage: 'dry-run',
    summary: 'Show what would have alerted by another setting of the connections of a project. Changes nothing.',
    examples: [
      'backstop dry-run --out-of-band alert --from 7d',
      'backstop dry-run --refunded-twice-within 24 --from 30d',
    ],
    options: [
      choiceOption('--out-of-band <mode>', 'the setting to try; that of each connection by default', OutOfBand.options),
      [
        '--refunded-twice-within <hours>',
        'the hours to try for second refunds; those of each connection by default',
        parseRepeatHours,
      ],
      ['--from <time>', 'start of the window: 2026-11-21, 2026-11-21T10:00:00Z, or an age such as 30m, 24h, 7d'],
      ['--to <time>', 'end of the window; now by default'],
      ['--project <id>', 'the project, if there are several'],
      ['--connection <id>', 'only this connection'],
      ['--account <id>', 'only this connected account of the card processor'],
    ],
    run: dryRun,
  })
}

async function dryRun(context: Context, options: DryRunOptions): Promise<undefined> {
  const { client, out, now } = context
  const { outOfBand: out_of_band, refundedTwiceWithin: refunded_twice_within_hours, account } = options
  const query = { ...given({ out_of_band, refunded_twice_within_hours, account }), ...windowOf(options, now()) }
  let count = 0
  for await (const { project_id, connection_id, name } of connectionsOf(context, options)) {
    const answer = await client.connections.dryRun(project_id, connection_id, query)
    if (options.json) out(`${JSON.stringify(answer)}\n`)
    else out(`${count === 0 ? '' : '\n'}${dryRunText(name, answer)}`)
    count += 1
  }
  if (count === 0 && !options.json) out('The project has no connections.\n')
}

async function* connectionsOf(context: Context, { connection, project }: DryRunOptions): AsyncGenerator<Connection> {
  const { client } = context
  if (connection === undefined) yield* client.connections.list(await chooseProject(context, project))
  else yield await findConnection(client, connection, project)
}

/** The window as the API takes it; without `--from`, the API's own default of seven days. */
function windowOf({ from, to }: DryRunOptions, now: number): { readonly from?: string; readonly to?: string } {
  const window = { from: readIsoTime('--from', from, now), to: readIsoTime('--to', to, now) }
  if (window.from !== undefined && window.from >= (window.to ?? new Date(now).toISOString()))
    throw new CommandFault('misused', 'The window is empty: give a --from before --to')
  return given(window)
}
