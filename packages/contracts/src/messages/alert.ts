import { z } from 'zod'
import { Budget, BudgetUsage } from '../actions/budget.ts'
import { Approval, ShownOperation, Timestamp } from '../actions/operation.ts'
import { FailedRun } from '../actions/run.ts'
import { Storm } from '../actions/storm.ts'
import { Action, Difference, Incident } from '../actions/verdict.ts'

/** The events that a channel can subscribe to. */
export const AlertEvent = z.enum([
  'run.failed',
  'incident.opened',
  'drift.detected',
  'cap.threshold',
  'approval.requested',
  'approval.reminder',
  'approval.expired',
  'incident.resolved',
  'incident.acknowledged',
])
export type AlertEvent = z.infer<typeof AlertEvent>

const common = { alert_id: z.string(), project_id: z.string(), created_at: Timestamp }
/** The names of a project and a connection, as people know them. Null if unknown, or if there is no connection. */
const Names = z.object({ project: z.string().nullable(), connection: z.string().nullable() })
export type Names = z.infer<typeof Names>

/** Absent in older messages, and on the topic `alerts` if the service that raises the alert does not know the names. */
const names = Names.optional()

/** `console`: the page of the alert in the console; null if the notifier has no PUBLIC_URL. Absent in older messages, and on the topic `alerts`. */
const links = z.object({ console: z.string().nullable() }).optional()

/** `action` is null if the incident is not about an action. */
const incidentData = z.object({
  incident: Incident,
  action: Action.nullable(),
  names,
  links,
  /**
   * Only in incident.resolved: the alert_id of an incident.opened that this channel did not get, so this message reports both. It is set
   * in the delivery to that channel, never on the topic `alerts`.
   */
  supersedes: z.string().optional(),
})

/** Data of the three approval events. `approval` is the same as in the operation, where the field is optional. */
const approvalData = z.object({ operation: ShownOperation, approval: Approval, names, links })

/** An alert. A webhook receives its `data` unchanged. */
export const Alert = z.discriminatedUnion('event', [
  z.object({ ...common, event: z.literal('incident.opened'), data: incidentData }),
  z.object({ ...common, event: z.literal('incident.resolved'), data: incidentData }),
  z.object({ ...common, event: z.literal('incident.acknowledged'), data: incidentData }),
  /** The provider's data contradicts an operation. `action` is null if the provider has no such refund or cancellation. */
  z.object({
    ...common,
    event: z.literal('drift.detected'),
    data: z.object({
      operation: ShownOperation,
      action: Action.nullable(),
      differences: z.array(Difference).min(1),
      names,
      links,
    }),
  }),
  /**
   * approval.requested: an operation waits for approval. approval.reminder: half of the time for the decision has passed.
   * approval.expired: the time passed without a decision.
   */
  z.object({ ...common, event: z.literal('approval.requested'), data: approvalData }),
  z.object({ ...common, event: z.literal('approval.reminder'), data: approvalData }),
  z.object({ ...common, event: z.literal('approval.expired'), data: approvalData }),
  /** The used and reserved amounts of a budget reached a share of its cap, for the first time in the period. */
  z.object({
    ...common,
    event: z.literal('cap.threshold'),
    data: z.object({
      budget: Budget,
      current: BudgetUsage,
      /** The highest share of the cap that was reached, in percent. */
      percent: z.int(),
      /** The operation that reached the share. */
      operation: ShownOperation,
      names,
      links,
    }),
  }),
  /** A run of the customer's software failed. The alert has the newest operations of the run and their total number. */
  z.object({
    ...common,
    event: z.literal('run.failed'),
    data: z.object({
      run: FailedRun,
      operations: z.array(ShownOperation),
      operations_total: z.int().min(0),
      names,
      links,
    }),
  }),
  /**
   * A report about a storm. Channels for people that subscribe to incident.opened get it instead of one message for each action.
   */
  z.object({ ...common, event: z.literal('storm.reported'), data: z.object({ storm: Storm, names, links }) }),
  /** The test message of a channel. */
  z.object({
    ...common,
    event: z.literal('channel.test'),
    data: z.object({ channel_id: z.string(), text: z.string() }),
  }),
])
export type Alert = z.infer<typeof Alert>
