import { z } from 'zod'
import { Timestamp } from '../operation.ts'
import { Action, Incident, IncidentState, TimelineEntry } from '../verdict.ts'
import { DeliveryState } from './delivery.ts'
import { ListQuery } from './list.ts'
import { SilenceSummary } from './silence.ts'

/** The query of GET /v1/incidents. */
export const IncidentQuery = ListQuery.extend({
  project_id: z.string().optional(),
  connection_id: z.string().optional(),
  state: IncidentState.optional(),
})

/** One delivery of an incident's alert, with each attempt. */
const IncidentDelivery = z.object({
  delivery_id: z.string(),
  channel_id: z.string(),
  alert_id: z.string(),
  event: z.string(),
  state: DeliveryState,
  reason: z.string(),
  attempts: z.array(
    z.object({
      attempt: z.int(),
      at: Timestamp,
      duration_ms: z.number(),
      outcome: z.enum(['delivered', 'failed']),
      status: z.int().nullable(),
      error: z.string().nullable(),
    }),
  ),
})

/** An incident with its action, its timeline and the deliveries of its alerts. */
export const IncidentWithTimeline = Incident.extend({
  action: Action.nullable(),
  timeline: z.array(TimelineEntry),
  silence: SilenceSummary.nullable().describe(
    'The silence during which the incident opened: no channel was notified of it. Null if there was none',
  ),
  deliveries: z.array(IncidentDelivery),
})
export type IncidentWithTimeline = z.infer<typeof IncidentWithTimeline>
