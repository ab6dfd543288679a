import type { Storm, StormDocument } from '@backstop/contracts'
import { createPeriodic, type Periodic } from '@backstop/kit/clock'
import { isRetryable } from '@backstop/kit/errors'
import type { OutboxPublisher } from '@backstop/kit/outbox'
import { namesOfScope, type StormOptions } from './join-storms.ts'
import { decideStormStep, newlyDone, type StormStep } from './rules/report-schedule.ts'
import { reportedActionIds, stormReportEntry } from './rules/storm-report.ts'
import { StormCounter, type StormTotals } from './rules/storm-totals.ts'

export interface StormReporterOptions extends StormOptions {
  readonly publisher: OutboxPublisher
}

/** Pause between two looks for due reports, in milliseconds. The first alerts of a storm have been sent alone before. */
const LOOK_EVERY_MS = 5_000
/** Number of storms per look. */
const LIMIT = 100

type DueStep = Exclude<StormStep, { kind: 'wait' }>

/**
 * Reports open storms when a report is due, ends storms that no action joins any more, and reports storms once more when all open
 * incidents are acknowledged, and ended storms when all are resolved. Every notifier looks for due
 * storms; a conditional write decides which one reports.
 */
export function createStormReporter(options: StormReporterOptions): Periodic {
  const { storms, clock, logger, stormSettings } = options
  return createPeriodic({
    clock,
    pauseMs: LOOK_EVERY_MS,
    async run(isStopping) {
      for (const storm of await storms.due(clock.now(), LIMIT)) {
        if (isStopping()) return
        const step = decideStormStep(storm, clock.now(), stormSettings)
        const look = step.kind === 'wait' ? storms.postpone(storm, step.untilMs) : report(storm, step, options)
        // A storm that cannot be reported must not hold the others back.
        await look.catch(error => logFailure(error, storm._id))
      }
    },
    onFailure: error => logFailure(error, null),
  })

  function logFailure(error: unknown, stormId: string | null): void {
    const canRetry = isRetryable(error)
    logger[canRetry ? 'warn' : 'error']({ error, storm_id: stormId }, 'storm.look_failed')
  }
}

/**
 * Stores the report with the storm, then publishes it. After a crash in between the outbox sweeper publishes the same
 * report.
 */
async function report(storm: StormDocument, step: DueStep, options: StormReporterOptions): Promise<void> {
  const { storms, clock, logger, publisher } = options
  const counter = new StormCounter()
  await storms.visitMembers(storm, member => counter.add(member))
  const totals = counter.totals()
  // No second look confirmed the burst that began it.
  if (totals === undefined && storm.report === 0) return storms.remove(storm)
  const cause = causeOf(storm, step, totals)
  if (cause === null) return step.kind === 'end' ? storms.forget(storm) : storms.postpone(storm, step.untilMs)
  const atMs = clock.now()
  const [nextLookAtMs, nextReportAtMs] = step.kind === 'end' ? [null, null] : [step.untilMs, step.nextReportAtMs]
  const entry =
    totals === undefined
      ? null
      : stormReportEntry(storm, {
          totals,
          actions: await storms.actionsOf(reportedActionIds(totals)),
          cause,
          nextReportAtMs,
          atMs,
        })
  const { count = 0, resolved = 0, unacknowledged = 0 } = totals?.counted ?? {}
  const incidents = totals?.incidents ?? 0
  const pending = await storms.report(storm, { entry, incidents, resolved, unacknowledged, atMs, nextLookAtMs })
  if (pending === undefined) return
  const { _id: storm_id, project_id, connection_id } = storm
  const facts = { storm_id, project_id, ...namesOfScope(connection_id), report: storm.report + 1, count }
  logger.info({ ...facts, reason: step.reason, cause }, step.kind === 'end' ? 'storm.ended' : 'storm.reported')
  await publisher.publish([pending])
}

/** Why the storm is reported; null if no report is due. */
function causeOf(
  storm: StormDocument,
  step: DueStep,
  totals: StormTotals | undefined,
): NonNullable<Storm['cause']> | null {
  if (step.kind === 'report') return 'new_actions'
  if (storm.state === 'open' && step.kind === 'end') return 'ended'
  const done = totals === undefined ? null : newlyDone(storm, totals.counted)
  // The report about the end of an open storm says that all are resolved.
  return storm.state === 'open' && done === 'resolved' ? null : done
}
