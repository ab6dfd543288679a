import type { Truth } from '../actors/truth.ts'
import type { AlertBody, Case, Evidence, Terms } from './evidence.ts'
import { ALERT_PROPERTIES } from './properties/alerts.ts'
import { AUDIT_PROPERTIES } from './properties/audit.ts'
import { BUDGET_PROPERTIES } from './properties/budgets.ts'
import { BURST_PROPERTIES } from './properties/bursts.ts'
import { CANARY_PROPERTIES } from './properties/canaries.ts'
import { COMPLETENESS_PROPERTIES } from './properties/completeness.ts'
import { DELIVERY_PROPERTIES } from './properties/deliveries.ts'
import { EXPECTED_CHANGE_PROPERTIES } from './properties/expected-changes.ts'
import { INBOX_PROPERTIES } from './properties/inbox.ts'
import { DATA_PROPERTIES } from './properties/personal-data.ts'
import { PROJECT_PROPERTIES } from './properties/projects.ts'
import { RECORD_PROPERTIES } from './properties/records.ts'
import { REPORT_PROPERTIES } from './properties/reports.ts'
import { SECOND_REFUND_PROPERTIES } from './properties/second-refunds.ts'
import { STORM_PROPERTIES } from './properties/storms.ts'
import { TIME_PROPERTIES } from './properties/time.ts'
import type { Property } from './property.ts'

/** Everything that a run is judged by. */
export const PROPERTIES: readonly Property[] = [
  {
    name: 'no-fault-of-its-own',
    promise: 'every-event-is-judged',
    check: ({ truth }) => truth.wrongs,
  },
  ...ALERT_PROPERTIES,
  ...EXPECTED_CHANGE_PROPERTIES,
  ...SECOND_REFUND_PROPERTIES,
  ...CANARY_PROPERTIES,
  ...BURST_PROPERTIES,
  ...TIME_PROPERTIES,
  ...DELIVERY_PROPERTIES,
  ...STORM_PROPERTIES,
  ...RECORD_PROPERTIES,
  ...INBOX_PROPERTIES,
  ...BUDGET_PROPERTIES,
  ...REPORT_PROPERTIES,
  ...PROJECT_PROPERTIES,
  ...COMPLETENESS_PROPERTIES,
  ...AUDIT_PROPERTIES,
  ...DATA_PROPERTIES,
]

/**
 * Judges a run that has come to rest. Knows the product only by its interface.
 * @returns what is wrong, a line each, which begins with the name of the property
 */
export function judge(truth: Truth, evidence: Evidence, terms: Terms): string[] {
  const alerts = truth.received.map(({ body, ...received }) => ({ ...received, text: body, body: alertOf(body) }))
  const run: Case = { truth, evidence, terms, alerts }
  return PROPERTIES.flatMap(({ name, check }) => check(run).map(text => `${name}: ${text}`))
}

/** An alert about no action says so by null. */
function alertOf(body: string): AlertBody {
  return JSON.parse(body, (name, value) => (name === 'action' && value === null ? undefined : value))
}
