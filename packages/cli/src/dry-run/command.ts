import { AppError, connectMongo } from '@backstop/kit'
import type { DryRunProgress, ReplaySource, VerdictDifference } from '@backstop/reconciler/replay'
import { CommandFault } from '../fault.ts'
import { findDatabase } from '../running-product.ts'
import type { Surroundings } from '../surroundings.ts'
import { type DryRunWish, readDryRunOptions } from './options.ts'
import { differenceText, summaryText } from './report.ts'

/** A person reads the first of them, and the counts. */
const DIFFERENCES_SHOWN = 50
/** Where progress is no line that is written over. */
const PROGRESS_EVERY_MS = 10_000

/** `backstop dry-run`: reads the database of a product that may run, and writes nothing. */
export async function dryRunCommand(args: readonly string[], surroundings: Surroundings): Promise<void> {
  const wish = readDryRunOptions(args, surroundings.now())
  const address = findDatabase(surroundings)
  const { createMongoReplaySource, dryRun } = await loadReplay()
  const mongo = connectMongo({ url: address.url, dbName: address.name, appName: 'backstop-dry-run' })
  try {
    const source = createMongoReplaySource(mongo)
    await refuseUnknownConnection(wish, source)
    const { from, to, projectId, connectionId, outOfBand } = wish
    const progress = createProgress(wish, surroundings)
    const teller = createTeller(wish, surroundings.out, progress.clear)
    const summary = await dryRun({
      source,
      window: { from, to, projectId, connectionId },
      recheckDelayMs: wish.recheckDelayMs ?? address.recheckDelayMs,
      outOfBand,
      now: surroundings.now,
      onDifference: teller.tell,
      onProgress: progress.show,
    })
    progress.clear()
    teller.end()
    surroundings.out(wish.json ? `${JSON.stringify({ type: 'summary', ...summary })}\n` : summaryText(summary, wish))
    if (summary.failed.count > 0) throw new CommandFault('failed', 'The rules failed on some payments, see above')
  } catch (error) {
    if (!(error instanceof AppError && error.code === 'unavailable')) throw error
    // The driver's own words would say little, and may name what MONGO_URL holds.
    const remedy = 'Check that it runs, and that MONGO_URL names it where that is set'
    throw new CommandFault('nothing_there', 'MongoDB does not answer', remedy, error)
  } finally {
    await mongo.stop()
  }
}

/** The rules are the reconciler's own, and its code is in its own image only. */
async function loadReplay() {
  try {
    return await import('@backstop/reconciler/replay')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new CommandFault('failed', 'The reconciler is not here', "Run dry-run in the reconciler's image", error)
  }
}

async function refuseUnknownConnection({ connectionId }: DryRunWish, source: ReplaySource): Promise<void> {
  if (connectionId === undefined || (await source.connections([connectionId])).has(connectionId)) return
  throw new CommandFault('not_found', `There is no connection ${connectionId} in this database`)
}

/** Tells each difference as it comes: none of them is kept. */
function createTeller({ json }: DryRunWish, out: Surroundings['out'], before: () => void) {
  let count = 0
  return {
    tell(difference: VerdictDifference): void {
      count += 1
      before()
      if (json) out(`${JSON.stringify({ type: 'difference', ...difference })}\n`)
      else if (count <= DIFFERENCES_SHOWN) out(`${differenceText(difference)}\n\n`)
    },
    end(): void {
      if (!json && count > DIFFERENCES_SHOWN) out(`… and ${count - DIFFERENCES_SHOWN} more, which --json tells\n\n`)
    },
  }
}

function createProgress({ from, to }: DryRunWish, { err, isTerminal, now }: Surroundings) {
  let toldAt = now()
  return {
    show({ walking, at, compared, different }: DryRunProgress): void {
      if (!isTerminal && now() - toldAt < PROGRESS_EVERY_MS) return
      toldAt = now()
      const percent = Math.floor(((at - from) / (to - from)) * 100)
      const line = `${walking} ${percent} %: ${compared} compared, ${different} different`
      err(isTerminal ? `\r\u001b[K${line}` : `${line}\n`)
    },
    clear(): void {
      if (isTerminal) err('\r\u001b[K')
    },
  }
}
