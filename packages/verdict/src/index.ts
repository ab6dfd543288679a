/** All that decides: see README.md. */

export {
  type ActionRecord,
  type Aspect,
  type CountedDay,
  type LookResult,
  lastResultOf,
  needsVerdict,
  openIncident,
  type SeenThrough,
  type Side,
} from './case/action-record.ts'
export type {
  Case,
  CaseOutboxEntry,
  EvictedRecord,
  FollowedOperation,
  RefundedTwiceSetting,
  RefundTotal,
  SightingSource,
  Snapshot,
  SubscriptionRow,
} from './case/case.ts'
export type { ConnectionPolicy } from './case/connection-policy.ts'
export { countedDayId, countedDayOf, dayOf, noteEarlierDays, projectDayId } from './case/counted-day.ts'
export type { Canaries, DecisionContext, Rules } from './case/decision-context.ts'
export { knownDetails } from './case/details.ts'
export { type ErasureScope, nextErasureAt } from './case/erase-personal-data.ts'
export type { ExpectedChange } from './case/expected-change.ts'
export { ANSWER_WITHIN_MS, pendingLooks } from './case/looks.ts'
export { createPersonMatcher, customerIdsIn } from './case/person.ts'
export type { LookFacts } from './case/whom-to-ask.ts'
export { decide, type Input, whyRefused } from './decide/decide.ts'
export { evictOld, MAX_EVICTED, MAX_HELD, MAX_RECORDS, whyFull } from './decide/evict.ts'
export { mergeCases } from './decide/merge.ts'
export { stampTrace } from './decide/stamp-trace.ts'
export {
  expectedChangesAbout,
  isOurOwnChange,
  mayNeedExpectedChange,
  withExpectedChanges,
} from './explain/cover-actions.ts'
export {
  type ExpectedChangeUses,
  grantClaims,
  isUseOf,
  type NeededUses,
  neededUsesOf,
  releaseClaims,
  usedElsewhere,
} from './explain/expected-change-uses.ts'
export { permissionToAlert, withOutOfBand } from './explain/out-of-band.ts'
export { expectedChangeOfOwn } from './explain/own-change.ts'
export { ruleOf } from './explain/why.ts'
export {
  type BurstDay,
  type BurstHistory,
  dayNumberOf,
  HISTORY_DAYS,
  halfHourOf,
} from './incident/burst-history.ts'
export {
  type BurstAction,
  describeBurst,
  judgeBurstEnd,
  openBurstIncident,
  type ReportedBurst,
  resolveBurstIncident,
} from './incident/burst-incident.ts'
export {
  BURST_MIN,
  BURST_WINDOW_MS,
  countLate,
  decideBurst,
  LATE_AGES_MS,
  PART_MS,
} from './incident/burst-rule.ts'
export { decideInCase } from './incident/change-incident.ts'
export {
  type ConnectionFault,
  openConnectionIncident,
  resolveConnectionIncident,
} from './incident/faulty-connection.ts'
export type { ChangeDecision, ChangeIncident } from './incident/life-cycle.ts'
export { COMPARED_FIELDS, type ComparedRefund, findRepeats } from './incident/refunded-twice.ts'
export {
  type OpenIncident,
  openRequestedIncident,
  type ResolveIncident,
  resolveRequestedIncident,
} from './incident/requested-incident.ts'
export { changeStandalone, type IncidentChange } from './incident/standalone.ts'
export { versionName } from './operation/version-name.ts'
export { recheckEntry } from './show/outbox-entries.ts'
export {
  changedRecords,
  endedWaits,
  type Listing,
  type ListingState,
  type ProjectedAction,
  type ProjectedIncident,
  projectAction,
  projectActions,
  projectIncidents,
  stampChanged,
} from './show/projection.ts'
export { sectionsOf } from './subscription/subscription-row.ts'
