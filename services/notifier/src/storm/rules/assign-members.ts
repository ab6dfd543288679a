import { deterministicId, partsOfStormScope, type StormMemberDocument, stormScopeOf } from '@backstop/contracts'
import type { NewMember } from './storm-member.ts'
import type { StormSettings } from './storm-settings.ts'

/** The recorded decision about a member. */
export type RecordedMember = Pick<
  StormMemberDocument,
  '_id' | 'connection_id' | 'opened_at' | 'recorded_at' | 'storm_id' | 'alone'
>

/** What is recorded about the connections of new members. A scope is a connection, or one or many of its connected accounts. */
export interface RecordedMembers {
  /** The new members that are recorded already, and the members without a storm near them. */
  readonly members: readonly RecordedMember[]
  /** The open storms of these connections, by scope. */
  readonly openStorms: ReadonlyMap<string, string>
}

export interface AssignedMembers {
  /** The decisions about all incoming members, recorded or new, in their order. */
  readonly decided: readonly RecordedMember[]
  /** The members to record. */
  readonly unrecorded: readonly StormMemberDocument[]
}

/** With open storms of this many other accounts, the next storm is of many accounts, so that people get few messages. */
const ACCOUNT_STORMS = 2
/** The actions of this many accounts are one storm together, so that a thief who goes from one to the next makes few messages. */
const MANY_ACCOUNTS = 3

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
    const ofMany = stormScopeOf(partsOfStormScope(member.connection_id).connectionId, '')
    const scope = [member.connection_id, ofMany].find(each => storms.has(each)) ?? newScopeOf(member, ofMany)
    if (scope === null) return { ...member, storm_id: null, alone: true }
    const storm_id = storms.get(scope) ?? deterministicId('storm', scope, member._id)
    return { ...member, connection_id: scope, storm_id, alone: false }
  }

  /** The scope of the storm that a member begins; null if it begins none. */
  const newScopeOf = ({ connection_id: own, opened_at }: NewMember, ofMany: string): string | null => {
    const atMs = opened_at.getTime()
    const isOfAccount = own.startsWith(ofMany)
    if (beginsStorm(atMs, timesWithoutStorm.get(own) ?? [], settings)) {
      const others = isOfAccount ? [...storms.keys()].filter(scope => scope.startsWith(ofMany)).length : 0
      return others < ACCOUNT_STORMS ? own : ofMany
    }
    if (!isOfAccount) return null
    const near = [...timesWithoutStorm]
      .filter(([scope]) => scope.startsWith(ofMany))
      .map(([scope, times]) => ({ scope, times: times.filter(time => Math.abs(time - atMs) <= settings.windowMs) }))
      .filter(({ times }) => times.length > 0)
    const accounts = new Set([own, ...near.map(({ scope }) => scope)])
    if (accounts.size < MANY_ACCOUNTS) return null
    return beginsStorm(
      atMs,
      near.flatMap(({ times }) => times),
      settings,
    )
      ? ofMany
      : null
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
