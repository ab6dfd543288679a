import { z } from 'zod'
import { Budget, BudgetUsage } from '../budget.ts'
import { Approval, ShownOperation, Timestamp } from '../operation.ts'
import { FailedRun } from '../run.ts'
import { Action, Difference, Incident } from '../verdict.ts'

/** The alert events of the interface (§6), in its order, and incident.resolved, which a channel gets only if it chose it. */
export const AlertEvent = z.enum([
  'run.failed',
  'incident.opened',
  'drift.detected',
  'cap.threshold',
  'approval.requested',
  'approval.reminder',
  'approval.expired',
  'incident.resolved',
])
export type AlertEvent = z.infer<typeof AlertEvent>

const common = { alert_id: z.string(), project_id: z.string(), created_at: Timestamp }
/** `action` is null for an incident that is not about one. */
const incidentData = z.object({
  incident: Incident,
  action: Action.nullable(),
  /**
   * incident.resolved: the alert_id of the incident.opened that this channel had not received before, so that this one
   * message tells both. Set for one channel's delivery, never on the topic `alerts`.
   */
  supersedes: z.string().optional(),
})

/** Of the three approval events: the operation, whose approval is told beside it so that it is always there. */
const approvalData = z.object({ operation: ShownOperation, approval: Approval })

/** What people are told. Its `data` is what a webhook receives under the same name. */
export const Alert = z.discriminatedUnion('event', [
  z.object({ ...common, event: z.literal('incident.opened'), data: incidentData }),
  z.object({ ...common, event: z.literal('incident.resolved'), data: incidentData }),
  /** The provider's data differs from what an operation said. `action` is null where the provider knows of none. */
  z.object({
    ...common,
    event: z.literal('drift.detected'),
    data: z.object({ operation: ShownOperation, action: Action.nullable(), differences: z.array(Difference).min(1) }),
  }),
  /** An operation waits for approval; half of the time has passed; nobody decided in time. */
  z.object({ ...common, event: z.literal('approval.requested'), data: approvalData }),
  z.object({ ...common, event: z.literal('approval.reminder'), data: approvalData }),
  z.object({ ...common, event: z.literal('approval.expired'), data: approvalData }),
  /** What is used and reserved of a budget has reached a share of its cap, for the first time in the period. */
  z.object({
    ...common,
    event: z.literal('cap.threshold'),
    data: z.object({
      budget: Budget,
      current: BudgetUsage,
      /** The highest share that was reached. */
      percent: z.int(),
      /** The operation that reached it. */
      operation: ShownOperation,
    }),
  }),
  /** A run of the execution feature failed; with the newest operations that name it, and how many there are. */
  z.object({
    ...common,
    event: z.literal('run.failed'),
    data: z.object({ run: FailedRun, operations: z.array(ShownOperation), operations_total: z.int().min(0) }),
  }),
  /** What the test button of a channel sends. */
  z.object({
    ...common,
    event: z.literal('channel.test'),
    data: z.object({ channel_id: z.string(), text: z.string() }),
  }),
])
export type Alert = z.infer<typeof Alert>
