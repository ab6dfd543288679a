import { type Alert, partsOfStormScope, stormScopeOf } from '@backstop/contracts'
import { Secret } from '@backstop/kit/config'
import { joinStorms, type StormOptions } from './join-storms.ts'
import { assignMembers, type RecordedMember, type RecordedMembers } from './rules/assign-members.ts'
import { type MemberChange, memberChangeOf, type NewMember, newMemberOf } from './rules/storm-member.ts'
import type { StormSettings } from './rules/storm-settings.ts'
import type { MemberQuery } from './storm-store.ts'

/** Whether an incident belongs to a storm, and whether channels for people get its alerts alone. */
export type StormMembership = Pick<RecordedMember, 'storm_id' | 'alone'>

/**
 * Records the unexplained actions of these alerts, before any delivery is produced. Alerts about anything else cost
 * nothing. @returns the memberships by incident id; incidents that are not recorded are absent
 */
export async function recordMembers(
  alerts: readonly Alert[],
  options: StormOptions,
): Promise<ReadonlyMap<string, StormMembership>> {
  const nowMs = options.clock.now()
  const fingerprint = (text: string) => options.secretBox.fingerprint(new Secret(text))
  const incoming = withoutRepeats(alerts.flatMap(alert => newMemberOf(alert, nowMs, fingerprint) ?? []))
  const changes = mergeByIncident(alerts.flatMap(alert => memberChangeOf(alert, nowMs) ?? []))
  if (incoming.length + changes.length === 0) return new Map()
  const incidentIds = [...incoming.map(({ _id }) => _id), ...changes.map(({ incidentId }) => incidentId)]
  const recorded = await options.storms.read({ incidentIds, near: nearOf(incoming, options.stormSettings) })
  const decided = await recordNew(incoming, recorded, options)
  const joined = await joinStorms(decided, incoming, options)
  const memberships = new Map([...recorded.members, ...joined].map(member => [member._id, member]))
  const ofMembers = changes.filter(({ incidentId }) => memberships.has(incidentId))
  if (ofMembers.length === 0) return memberships
  await options.storms.change(ofMembers)
  const stormsOf = (some: readonly MemberChange[]) => [
    ...new Set(some.flatMap(({ incidentId }) => memberships.get(incidentId)?.storm_id ?? [])),
  ]
  const acknowledged = ofMembers.filter(({ set }) => set.acknowledged_at instanceof Date)
  const resolved = ofMembers.filter(({ set }) => set.resolved_at !== undefined)
  await options.storms.lookAgain(stormsOf(resolved), nowMs)
  await options.storms.noteAcknowledged(stormsOf(acknowledged), nowMs)
  return memberships
}

/** Records the members that are not recorded yet. @returns the recorded decisions about all incoming members */
async function recordNew(
  incoming: readonly NewMember[],
  recorded: RecordedMembers,
  { storms, stormSettings }: StormOptions,
): Promise<readonly RecordedMember[]> {
  const { decided, unrecorded } = assignMembers(incoming, recorded, stormSettings)
  if (unrecorded.length === 0) return decided
  const existing = await storms.insert(unrecorded)
  if (existing.size === 0) return decided
  // Another process recorded these members meanwhile. Its decisions stand.
  const { members } = await storms.read({ incidentIds: [...existing], near: [] })
  const others = new Map(members.map(member => [member._id, member]))
  return decided.map(member => others.get(member._id) ?? member)
}

function withoutRepeats(members: readonly NewMember[]): NewMember[] {
  return [...new Map(members.map(member => [member._id, member])).values()]
}

/** An incident may be acknowledged, resolved and opened again in one batch. */
function mergeByIncident(changes: readonly MemberChange[]): MemberChange[] {
  const merged = new Map<string, MemberChange>()
  for (const { incidentId, set } of changes) {
    merged.set(incidentId, { incidentId, set: { ...merged.get(incidentId)?.set, ...set } })
  }
  return [...merged.values()]
}

/** The time around the new members of each scope in which other members may form a storm with them: for an account, those of any account. */
function nearOf(incoming: readonly NewMember[], { windowMs }: StormSettings): MemberQuery['near'] {
  const near = Map.groupBy(incoming, ({ connection_id, account }) =>
    account === undefined ? connection_id : stormScopeOf(partsOfStormScope(connection_id).connectionId, ''),
  )
  return [...near].map(([scope, members]) => {
    const times = members.map(({ opened_at }) => opened_at.getTime())
    return {
      scope,
      fromMs: times.reduce((one, other) => Math.min(one, other)) - windowMs,
      toMs: times.reduce((one, other) => Math.max(one, other)) + windowMs,
    }
  })
}
