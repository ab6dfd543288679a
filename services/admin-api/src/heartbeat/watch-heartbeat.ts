import { type DeliveryDocument, HEARTBEAT } from '@backstop/contracts'
import { type Clock, createPeriodic, type Periodic, within } from '@backstop/kit/clock'
import type { OperatorClient } from '@backstop/kit/http'
import type { Logger } from '@backstop/kit/logger'
import type { AdminCollections } from '../store/stores.ts'
import { recordUptime } from './record-uptime.ts'
import { heartbeatTimeOf } from './rules/heartbeat-event.ts'
import { type HeartbeatReport, heartbeatReport, type SendResult } from './rules/heartbeat-report.ts'
import { judgeHeartbeat } from './rules/judge-heartbeat.ts'

export interface HeartbeatWatchOptions {
  readonly stores: Pick<AdminCollections, 'deliveries' | 'heartbeat' | 'uptimes'>
  readonly client: OperatorClient
  readonly installation: string
  readonly alarmAfterMs: number
  /** Undefined: the absence is only logged and shown as a metric. */
  readonly alarmUrl: (() => string) | undefined
  readonly pingUrl: (() => string) | undefined
  readonly tickMs: number
  readonly clock: Clock
  readonly logger: Logger
  lastSend(): SendResult | null
  /** @param roundTripMs from the time when it was due to its delivery */
  onReturned(returnedAtMs: number, roundTripMs: number): void
  onReported(event: HeartbeatReport['event'], outcome: 'sent' | 'failed'): void
  onPinged(outcome: 'sent' | 'failed'): void
}

/** MongoDB must not delay the report of its own outage. */
const READ_WITHIN_MS = 3_000

/**
 * Watches for heartbeats that came back. It reports by HTTP, without Kafka and the notifier. It reads MongoDB, and takes a MongoDB that
 * does not answer for a heartbeat that is missing.
 */
export function createHeartbeatWatch(options: HeartbeatWatchOptions): Periodic & { returnedAtMs(): number | null } {
  const { clock, logger, alarmAfterMs, tickMs } = options
  const watchedSinceMs = clock.now()
  let returnedAtMs: number | null = null
  let readError: string | null = null
  let hasRead = false
  /** The report by this process, if MongoDB could not store it. */
  let reportedAtMs: number | null = null
  let silentSinceMs = watchedSinceMs

  async function look(): Promise<void> {
    const newest = await tryWithin(clock, () => findNewest(options.stores.deliveries))
    readError = newest.error
    if (newest.error !== null) return
    const { value } = newest
    const isFirstReading = !hasRead
    hasRead = true
    if (value === undefined || value.returnedAtMs <= (returnedAtMs ?? 0)) return
    // It waited behind others: alerts still arrive as late as it did.
    if (value.roundTripMs > alarmAfterMs) return
    returnedAtMs = value.returnedAtMs
    options.onReturned(value.returnedAtMs, value.roundTripMs)
    const recorded = await tryWithin(clock, () =>
      recordUptime(options.stores.uptimes, value.returnedAtMs, alarmAfterMs),
    )
    if (recorded.error !== null) logger.warn({ error: recorded.error }, 'heartbeat.uptime_not_stored')
    // A heartbeat from before the start says nothing about now.
    if (isFirstReading && value.returnedAtMs < watchedSinceMs) return
    await ping(options)
  }

  async function report(kind: 'missing' | 'returned', nowMs: number): Promise<void> {
    const lastSend = options.lastSend()
    const { installation } = options
    const report = heartbeatReport({ kind, installation, returnedAtMs, silentSinceMs, nowMs, lastSend, readError })
    await postReport(options, report)
    reportedAtMs = kind === 'missing' ? nowMs : null
    const stored = { _id: 'alarm', missing: kind === 'missing', reported_at: new Date(nowMs) } as const
    const { error } = await tryWithin(clock, () => options.stores.heartbeat.put(stored))
    if (error !== null) logger.warn({ error }, 'heartbeat.report_not_stored')
  }

  return {
    returnedAtMs: () => returnedAtMs,
    ...createPeriodic({
      clock,
      pauseMs: tickMs,
      async run() {
        await look()
        const nowMs = clock.now()
        // Another process may have reported it, or this one before it was started again.
        const alarm = await tryWithin(clock, () => options.stores.heartbeat.find({ _id: 'alarm' }))
        if (alarm.error === null && alarm.value !== undefined) {
          reportedAtMs = alarm.value.missing ? alarm.value.reported_at.getTime() : own(alarm.value.reported_at)
        }
        const facts = { returnedAtMs, watchedSinceMs, reportedAtMs }
        const verdict = judgeHeartbeat(facts, nowMs, alarmAfterMs)
        if (verdict.kind === 'missing') {
          silentSinceMs = nowMs - verdict.silentMs
          await report('missing', nowMs)
        }
        if (verdict.kind === 'returned') {
          // Another process, or this one before its restart, reported the absence.
          if (silentSinceMs === watchedSinceMs) silentSinceMs = reportedAtMs ?? watchedSinceMs
          await report('returned', nowMs)
          silentSinceMs = watchedSinceMs
        }
      },
      // The next tick reports again.
      onFailure: error => logger.error({ error }, 'heartbeat.not_reported'),
    }),
  }

  /** A report that MongoDB could not store is newer than the stored one, and stands. */
  function own(storedAt: Date): number | null {
    return reportedAtMs !== null && reportedAtMs > storedAt.getTime() ? reportedAtMs : null
  }
}

async function postReport({ alarmUrl, client, logger, onReported }: HeartbeatWatchOptions, report: HeartbeatReport) {
  const level = report.event === 'heartbeat.missing' ? 'error' : 'info'
  logger[level]({ silent_seconds: report.silent_seconds, cause: report.cause }, report.event)
  if (alarmUrl === undefined) return
  try {
    const headers = { 'content-type': 'application/json' }
    const { status } = await client.send({ url: alarmUrl(), method: 'POST', headers, body: JSON.stringify(report) })
    if (status >= 300) throw new Error(`HEARTBEAT_ALARM_URL answers ${status}`)
  } catch (error) {
    onReported(report.event, 'failed')
    throw error
  }
  onReported(report.event, 'sent')
}

async function ping({ pingUrl, client, logger, onPinged }: HeartbeatWatchOptions): Promise<void> {
  if (pingUrl === undefined) return
  try {
    const { status } = await client.send({ url: pingUrl(), method: 'GET' })
    if (status >= 300) throw new Error(`HEARTBEAT_PING_URL answers ${status}`)
    onPinged('sent')
  } catch (error) {
    onPinged('failed')
    logger.warn({ error }, 'heartbeat.not_pinged')
  }
}

async function findNewest(deliveries: AdminCollections['deliveries']) {
  const where = { channel_id: HEARTBEAT.channelId, state: 'delivered' } as const
  const [newest] = await deliveries.page({ where, by: 'created_at', limit: 1 })
  const dueMs = newest && dueTimeOf(newest)
  // A person can send a test of the channel.
  if (newest === undefined || dueMs === undefined) return undefined
  const returnedAtMs = newest.updated_at.getTime()
  return { returnedAtMs, roundTripMs: returnedAtMs - dueMs }
}

function dueTimeOf({ alert }: DeliveryDocument): number | undefined {
  const action = 'action' in alert.data ? alert.data.action : null
  return action?.provider_ref == null ? undefined : heartbeatTimeOf(action.provider_ref)
}

type Tried<T> = { readonly error: null; readonly value: T } | { readonly error: string }

async function tryWithin<T>(clock: Clock, work: () => Promise<T>): Promise<Tried<T>> {
  const late: Tried<T> = { error: `no answer within ${READ_WITHIN_MS / 1000} seconds` }
  try {
    return await within(
      clock,
      READ_WITHIN_MS,
      async (): Promise<Tried<T>> => ({ error: null, value: await work() }),
      late,
    )
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}
