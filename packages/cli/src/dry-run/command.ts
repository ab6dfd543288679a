import type { Client, Connection } from '@backstop/client'
import { OutOfBand } from '@backstop/contracts'
import { type Command, Option } from 'commander'
import { addCommand } from '../add-command.ts'
import { findConnection } from '../connections/find-connection.ts'
import { CommandFault } from '../fault.ts'
import { openClient } from '../open-client.ts'
import type { JsonOption } from '../output/print.ts'
import { chooseProject } from '../projects/choose-project.ts'
import { readTime } from '../read-time.ts'
import type { Surroundings } from '../surroundings.ts'
import { dryRunText } from './report.ts'

interface DryRunOptions extends JsonOption {
  readonly outOfBand: OutOfBand
  readonly from?: string
  readonly to?: string
  readonly project?: string
  readonly connection?: string
}

/** `backstop dry-run` */
export function addDryRun(program: Command, surroundings: Surroundings): void {
  addCommand(
    program,
    'dry-run',
    'Show what would have alerted by another setting of the connections of a project. Changes nothing.',
    'backstop dry-run --out-of-band alert --from 7d',
  )
    .addOption(
      new Option('--out-of-band <mode>', 'the setting to try').choices(OutOfBand.options).makeOptionMandatory(),
    )
    .option('--from <time>', 'start of the window: 2026-11-21, 2026-11-21T10:00:00Z, or an age such as 30m, 24h, 7d')
    .option('--to <time>', 'end of the window; now by default')
    .option('--project <id>', 'the project, if there are several')
    .option('--connection <id>', 'only this connection')
    .action((given: DryRunOptions) => dryRun(given, surroundings))
}

async function dryRun(given: DryRunOptions, surroundings: Surroundings): Promise<void> {
  const query = { out_of_band: given.outOfBand, ...windowOf(given, surroundings.now()) }
  const client = openClient(surroundings)
  let count = 0
  for await (const { project_id, connection_id, name } of connectionsOf(client, given, surroundings)) {
    const answer = await client.connections.dryRun(project_id, connection_id, query)
    surroundings.out(
      given.json ? `${JSON.stringify(answer)}\n` : `${count === 0 ? '' : '\n'}${dryRunText(name, answer)}`,
    )
    count += 1
  }
  if (count === 0 && !given.json) surroundings.out('The project has no connections.\n')
}

async function* connectionsOf(
  client: Client,
  { connection, project }: DryRunOptions,
  surroundings: Surroundings,
): AsyncGenerator<Connection> {
  if (connection === undefined) {
    yield* client.connections.list(await chooseProject(client, project, surroundings))
    return
  }
  yield await findConnection(client, connection, project)
}

/** The window as the API takes it; without `--from`, the API's own default of seven days. */
function windowOf({ from, to }: DryRunOptions, now: number): { readonly from?: string; readonly to?: string } {
  const start = from === undefined ? undefined : readTime('--from', from, now)
  const end = to === undefined ? undefined : readTime('--to', to, now)
  if (start !== undefined && start >= (end ?? now))
    throw new CommandFault('misused', 'The window is empty: give a --from before --to')
  const iso = (time: number) => new Date(time).toISOString()
  return {
    ...(start === undefined ? {} : { from: iso(start) }),
    ...(end === undefined ? {} : { to: iso(end) }),
  }
}
