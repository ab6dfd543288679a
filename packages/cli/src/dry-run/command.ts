import { AppError, connectMongo } from '@backstop/kit'
import type { DryRunProgress, ReplaySource, VerdictDifference } from '@backstop/reconciler/replay'
import { CommandFault } from '../fault.ts'
import { findDatabase } from '../running-product.ts'
import type { Surroundings } from '../surroundings.ts'
import { type DryRunOptions, readDryRunOptions } from './options.ts'
import { differenceText, summaryText } from './report.ts'

/** Differences printed without --json: people read only the first ones and the counts. */
const DIFFERENCES_SHOWN = 50
/** How often progress is printed if it cannot overwrite its line. */
const PROGRESS_EVERY_MS = 10_000

/** `backstop dry-run`: reads the database, also of a running product, and writes nothing. */
export async function dryRunCommand(args: readonly string[], surroundings: Surroundings): Promise<void> {
  const options = readDryRunOptions(args, surroundings.now())
  const address = findDatabase(surroundings)
  const { createMongoReplaySource, dryRun } = await loadReplay()
  const mongo = connectMongo({ url: address.url, dbName: address.name, appName: 'backstop-dry-run' })
  try {
    const source = createMongoReplaySource(mongo)
    await refuseUnknownConnection(options, source)
    const { from, to, projectId, connectionId, outOfBand } = options
    const progress = createProgress(options, surroundings)
    const differences = createDifferencePrinter(options, surroundings.out, progress.clear)
    const summary = await dryRun({
      source,
      window: { from, to, projectId, connectionId },
      recheckDelayMs: options.recheckDelayMs ?? address.recheckDelayMs,
      outOfBand,
      now: surroundings.now,
      onDifference: differences.print,
      onProgress: progress.show,
    })
    progress.clear()
    differences.end()
    surroundings.out(
      options.json ? `${JSON.stringify({ type: 'summary', ...summary })}\n` : summaryText(summary, options),
    )
    if (summary.failed.count > 0)
      throw new CommandFault('failed', 'The rules failed on some payments or subscriptions, see above')
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'unavailable')) throw error
    // The driver's message may contain the credentials of MONGO_URL.
    const remedy = 'Check that it runs, and that MONGO_URL, if set, has its address'
    throw new CommandFault('nothing_there', 'MongoDB is unavailable', remedy, error)
  } finally {
    await mongo.stop()
  }
}

/** Loaded on demand, because only the reconciler's image has its code. */
async function loadReplay() {
  try {
    return await import('@backstop/reconciler/replay')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new CommandFault(
      'failed',
      "The reconciler's code is not installed here",
      "Run dry-run in the reconciler's image",
      error,
    )
  }
}

async function refuseUnknownConnection({ connectionId }: DryRunOptions, source: ReplaySource): Promise<void> {
  if (connectionId === undefined || (await source.connections([connectionId])).has(connectionId)) return
  throw new CommandFault('not_found', `There is no connection ${connectionId} in this database`)
}

/** Prints each difference at once, so that none is held in memory. */
function createDifferencePrinter({ json }: DryRunOptions, out: Surroundings['out'], before: () => void) {
  let count = 0
  return {
    print(difference: VerdictDifference): void {
      count += 1
      before()
      if (json) out(`${JSON.stringify({ type: 'difference', ...difference })}\n`)
      else if (count <= DIFFERENCES_SHOWN) out(`${differenceText(difference)}\n\n`)
    },
    end(): void {
      if (!json && count > DIFFERENCES_SHOWN)
        out(`… and ${count - DIFFERENCES_SHOWN} more; --json prints all of them\n\n`)
    },
  }
}

function createProgress({ from, to }: DryRunOptions, { err, isTerminal, now }: Surroundings) {
  let shownAt = now()
  return {
    show({ walking, at, compared, different }: DryRunProgress): void {
      if (!isTerminal && now() - shownAt < PROGRESS_EVERY_MS) return
      shownAt = now()
      const percent = Math.floor(((at - from) / (to - from)) * 100)
      const line = `${walking} ${percent} %: ${compared} compared, ${different} different`
      err(isTerminal ? `\r\u001b[K${line}` : `${line}\n`)
    },
    clear(): void {
      if (isTerminal) err('\r\u001b[K')
    },
  }
}
