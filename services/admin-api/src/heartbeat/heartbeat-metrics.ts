import type { Metrics } from '@backstop/kit/ops'
import type { HeartbeatReport } from './rules/heartbeat-report.ts'

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
