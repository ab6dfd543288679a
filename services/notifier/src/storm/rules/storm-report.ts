import {
  type Action,
  type Alert,
  actorKindOf,
  isoTime,
  partsOfStormScope,
  type Storm,
  type StormDocument,
  stormAlertId,
  type TimedOutboxEntry,
} from '@backstop/contracts'
import type { StormTotals } from './storm-totals.ts'

/** The details of an action that a report shows. */
export type ReportedAction = Pick<Action, 'origin' | 'actor_id' | 'customer' | 'links'>

/** What a report says, with the totals of the members. */
export interface StormReport {
  readonly totals: StormTotals
  /** The actions that the totals name, by id; without those that are not stored any more. */
  readonly actions: ReadonlyMap<string, ReportedAction>
  readonly cause: NonNullable<Storm['cause']>
  /** Null in the last report. */
  readonly nextReportAtMs: number | null
  readonly atMs: number
}

/** The actions whose details a report shows. */
export function reportedActionIds({ customer, user, actor, largestActionId }: StormTotals): string[] {
  return [...new Set([largestActionId, ...[customer, user, actor].flatMap(shared => shared?.first ?? [])])]
}

/** The outbox entry of the next report about a storm. */
export function stormReportEntry(storm: StormDocument, report: StormReport): TimedOutboxEntry {
  const { cause, nextReportAtMs, atMs } = report
  const { counted, common, customer, user, actor, largestActionId, accounts } = report.totals
  const number = storm.report + 1
  const { connectionId, account } = partsOfStormScope(storm.connection_id)
  const userName = report.actions.get(user?.first ?? '')?.origin?.user
  const ofActor = report.actions.get(actor?.first ?? '')
  const ofCustomer = report.actions.get(customer?.first ?? '')
  // If the id was erased from the action, the member's stands for an e-mail address.
  const customerId = ofCustomer === undefined ? (customer?.value ?? null) : null
  const shown: Storm = {
    storm_id: storm._id,
    project_id: storm.project_id,
    connection_id: connectionId,
    ...(account ? { account } : {}),
    ...(account === '' && accounts > 0 ? { accounts } : {}),
    provider: storm.provider,
    state: nextReportAtMs === null ? 'ended' : 'open',
    report: number,
    cause,
    reported_at: isoTime(atMs),
    next_report_at: nextReportAtMs === null ? null : isoTime(nextReportAtMs),
    ...counted,
    ...(storm.bursts === undefined ? {} : { bursts: storm.bursts }),
    links: { provider: report.actions.get(largestActionId)?.links?.provider ?? null, console: null },
    common: {
      ...common,
      actor:
        actor === null || ofActor?.actor_id !== actor.value
          ? null
          : { value: actor.value, kind: actorKindOf(ofActor.origin), count: actor.count },
      user: user === null || userName == null ? null : { value: userName, count: user.count },
      customer:
        customer === null
          ? null
          : { value: ofCustomer?.customer ?? { id: customerId, name: null, email: null }, count: customer.count },
    },
  }
  const message: Alert = {
    alert_id: stormAlertId(storm._id, number),
    project_id: storm.project_id,
    created_at: isoTime(atMs),
    event: 'storm.reported',
    data: { storm: shown },
  }
  return { id: message.alert_id, topic: 'alerts', key: storm.project_id, message, at: atMs }
}
