import type { DryRunLine, DryRunRequest } from '@backstop/contracts'
import { CommandFault } from '../fault.ts'
import { type DatabaseAddress, findDatabase } from '../running-product.ts'
import type { Surroundings } from '../surroundings.ts'
import { type DryRunOptions, readDryRunOptions } from './options.ts'
import { findProgram, runProgram } from './program.ts'
import { createProgress } from './progress.ts'
import { differenceText, summaryText } from './report.ts'

/** Differences printed without --json: people read only the first ones and the counts. */
const DIFFERENCES_SHOWN = 50

/** `backstop dry-run`: reads the database, also of a running product, and writes nothing. */
export async function dryRunCommand(args: readonly string[], surroundings: Surroundings): Promise<void> {
  const options = readDryRunOptions(args, surroundings.now())
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
