import type { Clock } from '@backstop/kit/clock'
import type { Secret } from '@backstop/kit/config'
import { createOperatorClient } from '@backstop/kit/http'
import type { Logger } from '@backstop/kit/logger'
import type { Metrics } from '@backstop/kit/ops'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { AdminCollections } from '../store/stores.ts'
import type { HeartbeatReport, SendResult } from './rules/heartbeat-report.ts'
import { createHeartbeatSender } from './send-heartbeat.ts'
import { createHeartbeatWatch } from './watch-heartbeat.ts'

export interface HeartbeatSettings {
  /** Base URL at which heartbeats are posted. */
  readonly ingressUrl: string
  readonly everyMs: number
  /** How long no heartbeat may come back before it is reported, in milliseconds. */
  readonly alarmAfterMs: number
  readonly alarmUrl: Secret | undefined
  readonly pingUrl: Secret | undefined
  /** A CONNECT proxy for the alarm and the ping. */
  readonly proxyUrl: Secret | undefined
  /** Names this installation in reports. */
  readonly installation: string
}

export interface HeartbeatParts {
  readonly stores: AdminCollections
  readonly secretBox: SecretBox
  readonly clock: Clock
  readonly logger: Logger
  readonly metrics: Metrics
}

const LONGEST_TICK_MS = 5_000
const SHORTEST_TICK_MS = 250

/** Sends heartbeats and watches for them. Every process of admin-api does both (docs/heartbeat.md). */
export function createHeartbeat(parts: HeartbeatParts, settings: HeartbeatSettings | undefined) {
  const metrics = createHeartbeatMetrics(parts.metrics)
  if (settings === undefined) return { start() {}, stop: async () => {} }
  const { everyMs, alarmAfterMs, alarmUrl, pingUrl, installation, ingressUrl } = settings
  const startedAtMs = parts.clock.now()
  const sixth = Math.round(Math.min(everyMs, alarmAfterMs) / 6)
  const tickMs = Math.min(LONGEST_TICK_MS, Math.max(SHORTEST_TICK_MS, sixth))
  const ingress = createOperatorClient()
  const outside = createOperatorClient({ proxyUrl: settings.proxyUrl?.reveal() })
  let lastSend: SendResult | null = null
  const sender = createHeartbeatSender({
    ...parts,
    client: ingress,
    ingressUrl,
    everyMs,
    tickMs,
    onSent(result) {
      lastSend = result
      metrics.sent(result.kind)
    },
  })
  const watch = createHeartbeatWatch({
    ...parts,
    client: outside,
    installation,
    alarmAfterMs,
    alarmUrl: alarmUrl && (() => alarmUrl.revealLatest()),
    pingUrl: pingUrl && (() => pingUrl.revealLatest()),
    tickMs,
    lastSend: () => lastSend,
    onReturned: (_, roundTripMs) => metrics.returned(roundTripMs),
    onReported: metrics.reported,
    onPinged: metrics.pinged,
  })
  parts.metrics.beforeRead(() => metrics.showAge(parts.clock.now() - (watch.returnedAtMs() ?? startedAtMs)))
  return {
    start() {
      sender.start()
      watch.start()
    },
    async stop() {
      await Promise.all([sender.stop(), watch.stop()])
      await Promise.all([ingress.stop(), outside.stop()])
    },
  }
}

/** The metrics of the heartbeat. The gauges have no value while it is off, so that no alert takes it for missing. */
export function createHeartbeatMetrics(metrics: Metrics) {
  const age = metrics.gauge(
    'heartbeat_age_seconds',
    'Time since the newest heartbeat came back, or since the start of the process',
    [],
  )
  const roundTrip = metrics.gauge('heartbeat_round_trip_seconds', 'From the newest heartbeat to its delivery', [])
  age.remove()
  roundTrip.remove()
  const sends = metrics.counter('heartbeat_sends_total', 'Attempts to send a heartbeat to ingress', ['outcome'])
  const reports = metrics.counter(
    'heartbeat_reports_total',
    'Reports that the heartbeat is missing or back, to HEARTBEAT_ALARM_URL',
    ['event', 'outcome'],
  )
  const pings = metrics.counter('heartbeat_pings_total', 'Pings of HEARTBEAT_PING_URL', ['outcome'])
  return {
    showAge: (ms: number) => age.set(Math.max(0, ms) / 1000),
    returned: (roundTripMs: number) => roundTrip.set(Math.max(0, roundTripMs) / 1000),
    sent: (outcome: 'accepted' | 'failed') => sends.inc({ outcome }),
    reported: (event: HeartbeatReport['event'], outcome: 'sent' | 'failed') => reports.inc({ event, outcome }),
    pinged: (outcome: 'sent' | 'failed') => pings.inc({ outcome }),
  }
}
