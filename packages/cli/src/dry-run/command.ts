import { type DryRunLine, type DryRunRequest, OutOfBand } from '@backstop/contracts'
import { type Command, Option } from 'commander'
import { addCommand } from '../add-command.ts'
import { CommandFault } from '../fault.ts'
import { type DatabaseAddress, findDatabase } from '../running-product.ts'
import type { Surroundings } from '../surroundings.ts'
import { type DryRunOptions, type GivenOptions, readDryRunOptions } from './options.ts'
import { findProgram, runProgram } from './program.ts'
import { createProgress } from './progress.ts'
import { differenceText, summaryText } from './report.ts'

/** Differences printed without --json: people read only the first ones and the counts. */
const DIFFERENCES_SHOWN = 50

/** `backstop dry-run` */
export function addDryRun(program: Command, surroundings: Surroundings): void {
  addCommand(
    program,
    'dry-run',
    "Show which verdicts today's rules or other settings would change. Reads the database; changes nothing.",
    'backstop dry-run --from 7d --out-of-band alert',
  )
    .requiredOption(
      '--from <time>',
      'start of the window: 2026-11-21, 2026-11-21T10:00:00Z, or an age such as 30m, 24h, 7d',
    )
    .option('--to <time>', 'end of the window; now by default')
    .option('--project <id>', 'only actions of this project')
    .option('--connection <id>', 'only actions of this connection')
    .addOption(
      new Option('--out-of-band <mode>', 'in place of the setting of the connections').choices(OutOfBand.options),
    )
    .option('--recheck-delay <ms>', 'milliseconds until the second look')
    .action((given: GivenOptions) => dryRun(given, surroundings))
}

async function dryRun(given: GivenOptions, surroundings: Surroundings): Promise<void> {
  const options = readDryRunOptions(given, surroundings.now())
  const request = requestOf(options, findDatabase(surroundings))
  const progress = createProgress(options, surroundings)
  const differences = createDifferencePrinter(options, surroundings.out, progress.clear)
  for await (const line of runProgram(findProgram(), request, surroundings.environment)) {
    switch (line.type) {
      case 'progress':
        progress.show(line)
        break
      case 'difference':
        differences.print(line)
        break
      case 'summary':
        progress.clear()
        differences.end()
        surroundings.out(options.json ? `${JSON.stringify(line)}\n` : summaryText(line, options))
        if (line.failed.count === 0) return
        throw new CommandFault('failed', 'The rules failed on some payments or subscriptions, see above')
      case 'connection_not_found':
        throw new CommandFault('not_found', `There is no connection ${options.connectionId} in this database`)
      case 'database_unavailable':
        throw new CommandFault(
          'nothing_there',
          'MongoDB is unavailable',
          'Check that it runs, and that MONGO_URL, if set, has its address',
        )
      case 'failed':
        throw new CommandFault('failed', line.error)
      default:
        line satisfies never
    }
  }
}

function requestOf(options: DryRunOptions, address: DatabaseAddress): DryRunRequest {
  return {
    mongo_url: address.url.reveal(),
    mongo_ca: address.files.MONGO_CA?.reveal(),
    mongo_cert: address.files.MONGO_CERT?.reveal(),
    mongo_key: address.files.MONGO_KEY?.reveal(),
    database: address.name,
    from: options.from,
    to: options.to,
    project_id: options.projectId,
    connection_id: options.connectionId,
    out_of_band: options.outOfBand,
    recheck_delay_ms: options.recheckDelayMs ?? address.recheckDelayMs,
  }
}

/** Prints each difference at once, so that none is held in memory. */
function createDifferencePrinter({ json }: DryRunOptions, out: Surroundings['out'], before: () => void) {
  let count = 0
  return {
    print(line: Extract<DryRunLine, { type: 'difference' }>): void {
      count += 1
      before()
      if (json) out(`${JSON.stringify(line)}\n`)
      else if (count <= DIFFERENCES_SHOWN) out(`${differenceText(line)}\n\n`)
    },
    end(): void {
      if (!json && count > DIFFERENCES_SHOWN)
        out(`… and ${count - DIFFERENCES_SHOWN} more; --json prints all of them\n\n`)
    },
  }
}
