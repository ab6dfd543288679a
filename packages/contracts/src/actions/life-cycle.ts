import { z } from 'zod'

/** Who made a change: an API key, a person who signed in, or Backstop itself. */
export const Actor = z.object({ kind: z.enum(['api_key', 'person', 'backstop']), id: z.string(), name: z.string() })
export type Actor = z.infer<typeof Actor>

/** The reasons that people give when they resolve an incident. */
export const ResolveReason = z.enum(['our_own_change', 'fraud_or_leaked_key', 'provider_mistake', 'duplicate', 'other'])
export type ResolveReason = z.infer<typeof ResolveReason>

/** Why an incident was resolved, if not because its cause ended. connection_deleted: its connection was deleted. */
export const IncidentReason = z.enum([...ResolveReason.options, 'connection_deleted'])
export type IncidentReason = z.infer<typeof IncidentReason>

/** True if an incident was resolved because its cause ended, and by nobody. Such an incident is not opened again. */
export function hasEndedByItself(incident: {
  readonly state: string
  readonly reason?: IncidentReason | null | undefined
}): boolean {
  return incident.state === 'resolved' && incident.reason == null
}

/** Selects incidents of a project. An absent field selects all. */
export const IncidentSelection = z.object({
  connection_id: z.string().optional(),
  code: z.string().optional(),
  /** States before the change. */
  states: z.array(z.enum(['open', 'acknowledged', 'resolved'])).optional(),
  /** By opened_at; `to` is exclusive. */
  from: z.string().optional(),
  to: z.string(),
})
export type IncidentSelection = z.infer<typeof IncidentSelection>

/** A change of an incident's life cycle. */
export const LifeCycleChange = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('acknowledge') }),
  /** Null removes the assignee. */
  z.object({ kind: z.literal('assign'), assignee: z.string().nullable() }),
  z.object({ kind: z.literal('resolve'), reason: IncidentReason, note: z.string().nullable() }),
  z.object({ kind: z.literal('reopen') }),
  z.object({ kind: z.literal('comment'), text: z.string() }),
])
export type LifeCycleChange = z.infer<typeof LifeCycleChange>
