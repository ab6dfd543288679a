/** All that decides: see README.md. */

export {
  type ActionRecord,
  type Aspect,
  type CountedDay,
  isJudged,
  isProvisional,
  type LateReading,
  type LookResult,
  lastResultOf,
  type ObjectRecord,
  openIncident,
  type ProvisionalRefund,
  type SeenThrough,
  type Side,
  UNJUDGED,
} from './case/action-record.ts'
export {
  type Case,
  type CaseOutboxEntry,
  type EvictedRecord,
  type FollowedOperation,
  type MergedRecord,
  type RefundTotal,
  replaceAt,
  type SightingSource,
  type Snapshot,
  type SubscriptionRow,
  withAll,
  withConnection,
  withNames,
  withRecord,
} from './case/case.ts'
export { type ConnectionPolicy, policiesOf } from './case/connection-policy.ts'
export { countedDayId, countedDayOf, dayOf, noteEarlierDays, projectDayId } from './case/counted-day.ts'
export type { DecisionContext, Rules } from './case/decision-context.ts'
export { withLateReading, withoutDenial } from './case/denial.ts'
export { knownDetails, showDetails } from './case/details.ts'
export type { ExpectedChange } from './case/expected-change.ts'
export type { IncidentRecord } from './case/incident-record.ts'
export {
  ANSWER_WITHIN_MS,
  answerBy,
  awaitsAnswer,
  type LateReadingLook,
  type LookInput,
  type OperationLook,
  type PendingLook,
  pendingLooks,
  type SecondLook,
} from './case/looks.ts'
export { eraseInRecord, erasePersonalData, nextErasureAt } from './case/personal-data.ts'
export { detailsOf, mergeSides, refundIdsOf, replaceProvisionalRefund, toSide, withSides } from './case/sides.ts'
export { addSightingToTimeline, addToTimeline, stateOf, timelineEntry } from './case/timeline.ts'
export {
  decideWhomToAsk,
  isSigned,
  type LookFacts,
  type ProviderQuestion,
  questionThrough,
} from './case/whom-to-ask.ts'
export { assignOperations } from './explain/assign.ts'
export {
  expectedChangesAbout,
  isOurOwnChange,
  mayNeedExpectedChange,
  mergeExpectedChanges,
  withExpectedChanges,
} from './explain/cover-actions.ts'
export {
  type ExpectedChangeUses,
  grantClaims,
  type NeededUses,
  neededUsesOf,
  ownIds,
  releaseClaims,
  usedElsewhere,
} from './explain/expected-change-uses.ts'
export { claimResultOf, madeBeforeConnection } from './explain/explain.ts'
export { expectedChangeOfOwn } from './explain/own-change.ts'
export { ruleOf, whyOf } from './explain/why.ts'
export { changeIncidentOfCase, decideInCase } from './incident/change-incident.ts'
export { changeStandalone } from './incident/change-standalone.ts'
export { type ExpiringKeyCommand, openKeyIncident, resolveKeyIncident } from './incident/expiring-key.ts'
export {
  type FailingChannelCommand,
  type IncidentChange,
  type IncidentResolution,
  openChannelIncident,
  resolveChannelIncident,
} from './incident/failing-channel.ts'
export {
  type ConnectionFault,
  openConnectionIncident,
  resolveConnectionIncident,
} from './incident/faulty-connection.ts'
export type { ChangeDecision, ChangeIncident } from './incident/life-cycle.ts'
export { judgeAtSecondLook, judgeCase } from './judge/judge.ts'
export { indexOfLinkedRecord, mergeLinkedRefunds } from './judge/same-action.ts'
export { reportDrift, reportMissing } from './operation/drift.ts'
export { followedOperation, withFollowedOperation } from './operation/followed-operation.ts'
export { recordOutcomes } from './operation/outcomes.ts'
export { versionName } from './operation/version-name.ts'
export { addDetailsOfCharges } from './refund/charge-details.ts'
export { addPaymentNames } from './refund/payment-names.ts'
export {
  applyRefundTotal,
  applyTotalLook,
  indexOfProvisional,
  totalsOfRefunds,
  updateProvisionalRefunds,
} from './refund/refund-steps.ts'
export { readTotals } from './refund/refund-totals.ts'
export { markReleases } from './refund/releases.ts'
export type { KnownRefund } from './refund/rises.ts'
export { addConnectionsOfTotals } from './refund/shown-through.ts'
export { alertEntry, recheckEntry, rereadEntry, unansweredEntry } from './show/outbox-entries.ts'
export {
  changedRecords,
  endedWaits,
  type Listing,
  type ListingState,
  type ProjectedAction,
  type ProjectedIncident,
  projectAction,
  projectActions,
  projectIncident,
  projectIncidents,
  stampChanged,
} from './show/projection.ts'
export { applySubscription, deriveRecords } from './subscription/subscription-records.ts'
export { mergeRows, spansOf } from './subscription/subscription-row.ts'
