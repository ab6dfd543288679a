/** The service level objectives as Prometheus rules: how many events were bad, and how fast that uses up the error budget. */

interface Objective {
  readonly slo: string
  readonly alert: string
  /** The share of events that may be bad in 28 days. */
  readonly budget: number
  readonly summary: string
  /** The number of all events within a window, and of those that are bad. */
  readonly total: (window: string) => string
  readonly bad: (window: string) => string
}

const WEBHOOKS = 'service="ingress",route=~"/v1/webhooks/.*"'
const REQUESTS = 'http_server_request_duration_seconds'

/**
 * Matches the bucket that ends at `le` seconds. Prometheus 3 stores a whole number with a decimal, `61.0`; Prometheus 2 stores `61`.
 */
const bucketOf = (le: string) => (le.includes('.') ? `le="${le}"` : `le=~"${le}([.]0)?"`)

/** The events of a histogram that took longer than `le` seconds. */
const slower = (histogram: string, labels: string, le: string) => {
  const inLabels = (more: string) => [labels, more].filter(part => part !== '').join(',')
  return {
    total: (window: string) => `sum(increase(${histogram}_count{${labels}}[${window}]))`,
    bad: (window: string) =>
      `sum(increase(${histogram}_count{${labels}}[${window}])) - sum(increase(${histogram}_bucket{${inLabels(bucketOf(le))}}[${window}]))`,
  }
}

const OBJECTIVES: readonly Objective[] = [
  {
    slo: 'acknowledgement',
    alert: 'BackstopAcknowledgementSlow',
    budget: 0.01,
    summary: 'More than 1 % of the notifications are acknowledged after more than 0.25 s',
    ...slower(REQUESTS, `${WEBHOOKS},status="200"`, '0.25'),
  },
  {
    slo: 'intake',
    alert: 'BackstopIntakeFailing',
    budget: 0.0005,
    summary: 'More than 0.05 % of the notifications are answered with a server error',
    total: window => `sum(increase(${REQUESTS}_count{${WEBHOOKS}}[${window}]))`,
    bad: window => `sum(increase(${REQUESTS}_count{${WEBHOOKS},status=~"5.."}[${window}]))`,
  },
  {
    slo: 'verdict',
    alert: 'BackstopVerdictLate',
    budget: 0.01,
    summary: 'More than 1 % of the second looks give their verdict later than 61 s after the first record',
    ...slower('reconciler_verdict_seconds', '', '61'),
  },
  {
    slo: 'delivery',
    alert: 'BackstopDeliveryLate',
    budget: 0.01,
    summary: 'More than 1 % of the alerts are delivered later than 90 s after the first record',
    ...slower('alert_e2e_latency_seconds', '', '90'),
  },
]

const WINDOWS = ['5m', '30m', '1h', '6h', '3d'] as const
type Window = (typeof WINDOWS)[number]

/** The rates at which an alert fires. A rate of 1 uses up the budget in exactly 28 days. */
const BURNS: readonly { severity: 'page' | 'ticket'; rate: number; long: Window; short: Window }[] = [
  { severity: 'page', rate: 14.4, long: '1h', short: '5m' },
  { severity: 'page', rate: 6, long: '6h', short: '30m' },
  { severity: 'ticket', rate: 1, long: '3d', short: '6h' },
]
/** Fewer bad events are no reason to wake a person, whatever their share is. */
const LEAST_BAD = 3

const ratio = (slo: string, window: Window) =>
  `backstop:slo_bad:increase${window}{slo="${slo}"} / backstop:slo_events:increase${window}{slo="${slo}"}`

function burnExpression({ slo, budget }: Objective, severity: 'page' | 'ticket'): string {
  return BURNS.filter(burn => burn.severity === severity)
    .map(({ rate, long, short }) => {
      const limit = Number((rate * budget).toPrecision(3))
      const few = `backstop:slo_bad:increase${long}{slo="${slo}"} > ${LEAST_BAD - 0.5}`
      return `(${ratio(slo, long)} > ${limit} and ${ratio(slo, short)} > ${limit} and ${few})`
    })
    .join('\nor\n')
}

/** The groups of the rule file. */
export function sloGroups() {
  const records = WINDOWS.map(window => ({
    name: `backstop-slo-${window}`,
    rules: OBJECTIVES.flatMap(({ slo, total, bad }) => [
      { record: `backstop:slo_events:increase${window}`, labels: { slo }, expr: total(window) },
      { record: `backstop:slo_bad:increase${window}`, labels: { slo }, expr: bad(window) },
    ]),
  }))
  const alerts = OBJECTIVES.flatMap(objective =>
    (['page', 'ticket'] as const).map(severity => ({
      alert: objective.alert,
      expr: burnExpression(objective, severity),
      labels: { severity },
      annotations: {
        summary: objective.summary,
        runbook_url: runbookUrl(objective.alert),
      },
    })),
  )
  return [...records, { name: 'backstop-slo-burn', rules: alerts }]
}

/** Where a reader of an alert finds its page: relative to this repository, until the operator replaces the prefix. */
function runbookUrl(alert: string): string {
  return `docs/runbooks/${alert}.md`
}
