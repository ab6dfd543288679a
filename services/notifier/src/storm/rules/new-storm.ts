import type { StormDocument } from '@backstop/contracts'

/**
 * A storm that begins now, without reports.
 * @param lastMemberAtMs when its last member was recorded
 */
export function newStorm(
  stormId: string,
  { project_id, connection_id, provider }: Pick<StormDocument, 'project_id' | 'connection_id' | 'provider'>,
  nowMs: number,
  lastMemberAtMs: number,
): StormDocument {
  const now = new Date(nowMs)
  return {
    _id: stormId,
    project_id,
    connection_id,
    provider,
    state: 'open',
    began_at: now,
    last_member_at: new Date(lastMemberAtMs),
    version: 0,
    report: 0,
    reported_at: null,
    reported_version: 0,
    reported_incidents: 0,
    reported_resolved: 0,
    reported_unacknowledged: null,
    acknowledgements: 0,
    seen_acknowledgements: 0,
    next_look_at: now,
    ended_at: null,
  }
}
