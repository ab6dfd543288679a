import { deterministicId, type StormMemberDocument } from '@backstop/contracts'
import type { NewMember } from './storm-member.ts'
import type { StormSettings } from './storm-settings.ts'

/** The recorded decision about a member. */
export type RecordedMember = Pick<
  StormMemberDocument,
  '_id' | 'connection_id' | 'opened_at' | 'recorded_at' | 'storm_id' | 'alone'
>

/** What is recorded about the connections of new members. */
export interface RecordedMembers {
  /** The new members that are recorded already, and the members without a storm near them. */
  readonly members: readonly RecordedMember[]
  /** The open storm of each connection that has one. */
  readonly openStorms: ReadonlyMap<string, string>
}

export interface AssignedMembers {
  /** The decisions about all incoming members, recorded or new, in their order. */
  readonly decided: readonly RecordedMember[]
  /** The members to record. */
  readonly unrecorded: readonly StormMemberDocument[]
}

/**
 * Decides for each member whether channels for people get its alerts alone or whether it belongs to a storm. A recorded
 * decision stands, so that a fan-out that is repeated after a crash decides the same. A new member is compared with the
 * members before it only, so the result does not depend on how the topic is divided into batches.
 * @param incoming in the order of the topic, each member once
 */
export function assignMembers(
  incoming: readonly NewMember[],
  { members, openStorms }: RecordedMembers,
  settings: StormSettings,
): AssignedMembers {
  const recorded = new Map(members.map(member => [member._id, member]))
  const incomingIds = new Set(incoming.map(({ _id }) => _id))
  const storms = new Map(openStorms)
  const timesWithoutStorm = new Map<string, number[]>()
  const addWithoutStorm = ({ connection_id, opened_at }: RecordedMember) => {
    const times = timesWithoutStorm.get(connection_id)
    if (times === undefined) timesWithoutStorm.set(connection_id, [opened_at.getTime()])
    else times.push(opened_at.getTime())
  }
  for (const member of members) if (member.storm_id === null && !incomingIds.has(member._id)) addWithoutStorm(member)

  const decide = (member: NewMember): StormMemberDocument => {
    const openStorm = storms.get(member.connection_id)
    if (openStorm !== undefined) return { ...member, storm_id: openStorm, alone: false }
    const times = timesWithoutStorm.get(member.connection_id) ?? []
    if (!beginsStorm(member.opened_at.getTime(), times, settings)) return { ...member, storm_id: null, alone: true }
    return { ...member, storm_id: deterministicId('storm', member.connection_id, member._id), alone: false }
  }

  const unrecorded: StormMemberDocument[] = []
  const decided = incoming.map(member => {
    const known = recorded.get(member._id)
    const decision = known ?? decide(member)
    if (known === undefined) unrecorded.push(decision as StormMemberDocument)
    if (decision.storm_id === null) addWithoutStorm(decision)
    else if (!decision.alone) storms.set(decision.connection_id, decision.storm_id)
    return decision
  })
  return { decided, unrecorded }
}

/** True if `atMs` and enough of the other times lie within one window. */
export function beginsStorm(atMs: number, otherTimesMs: readonly number[], { from, windowMs }: StormSettings): boolean {
  const near = otherTimesMs.filter(other => Math.abs(other - atMs) <= windowMs)
  const sorted = [...near, atMs].sort((a, b) => a - b)
  return sorted.some((firstMs, index) => {
    const lastMs = sorted[index + from - 1]
    return lastMs !== undefined && lastMs - firstMs <= windowMs && firstMs <= atMs && atMs <= lastMs
  })
}
