import { partsOfStormScope } from '@backstop/contracts'
import type { Clock } from '@backstop/kit/clock'
import { lostRace } from '@backstop/kit/errors'
import type { Logger } from '@backstop/kit/logger'
import type { SecretBox } from '@backstop/kit/secret-box'
import type { RecordedMember } from './rules/assign-members.ts'
import { newStorm } from './rules/new-storm.ts'
import type { NewMember } from './rules/storm-member.ts'
import type { StormSettings } from './rules/storm-settings.ts'
import type { StormJoin, StormStore } from './storm-store.ts'

export interface StormOptions {
  readonly storms: StormStore
  readonly clock: Clock
  readonly logger: Logger
  readonly stormSettings: StormSettings
  readonly secretBox: Pick<SecretBox, 'fingerprint'>
}

/** Attempts to join a storm that another process begins, ends or continues at the same time. */
const MAX_ROUNDS = 5

/**
 * Begins the storms of recorded members, or reports to their storms that members joined. Every step is idempotent, so a
 * repeat after a crash ends in the same state.
 * @param incoming the facts of the members
 * @returns the members with the storms that they belong to
 */
export async function joinStorms(
  members: readonly RecordedMember[],
  incoming: readonly NewMember[],
  options: StormOptions,
): Promise<readonly RecordedMember[]> {
  const inStorm = members.filter(member => member.storm_id !== null && !member.alone)
  if (inStorm.length === 0) return members
  const joins = joinsOf(inStorm, incoming)
  if (await options.storms.touch([...joins.values()])) return members
  const actual = new Map<string, string>()
  for (const [stormId, join] of joins) actual.set(stormId, await joinStorm(join, options))
  return members.map(member =>
    member.storm_id === null || member.alone
      ? member
      : { ...member, storm_id: actual.get(member.storm_id) ?? member.storm_id },
  )
}

/** The members of each storm, by its id. Members whose facts are not among the incoming ones join nothing. */
function joinsOf(
  inStorm: readonly RecordedMember[],
  incoming: readonly NewMember[],
): ReadonlyMap<string, StormJoin & { readonly first: NewMember }> {
  const facts = new Map(incoming.map(member => [member._id, member]))
  const joins = new Map<string, StormJoin & { readonly first: NewMember }>()
  for (const [stormId, joining] of Map.groupBy(inStorm, member => member.storm_id ?? '')) {
    const [member] = joining
    const first = facts.get(member?._id ?? '')
    if (first === undefined || member === undefined) continue
    joins.set(stormId, {
      stormId,
      scope: member.connection_id,
      incidentIds: joining.map(({ _id }) => _id),
      recordedAtMs: joining.reduce((last, { recorded_at }) => Math.max(last, recorded_at.getTime()), 0),
      first,
    })
  }
  return joins
}

/** @returns the storm that the members belong to: another one if their scope already has another open storm */
async function joinStorm(
  { first, ...join }: StormJoin & { readonly first: NewMember },
  options: StormOptions,
): Promise<string> {
  const { storms, clock, logger } = options
  let { stormId } = join
  for (let round = 0; round < MAX_ROUNDS; round++) {
    if (await storms.touch([{ ...join, stormId }])) return stormId
    const known = await storms.find(stormId)
    if (known === undefined) {
      await begin(stormId, join, first, options)
    } else if (known.state === 'ended') {
      // A repeat of a batch finds its members in the last report.
      if ((await storms.countMembers(known)) <= known.reported_incidents) return stormId
      await storms.reopen(stormId, clock.now())
    }
    const open = await storms.openStormOf(join.scope)
    if (open === undefined || open === stormId) continue
    await storms.move(join.scope, stormId, open, known === undefined ? null : join.incidentIds)
    logger.info({ storm_id: stormId, joined: open, ...namesOfScope(join.scope) }, 'storm.merged')
    stormId = open
  }
  throw lostRace(`storm ${stormId}`)
}

/**
 * Adds the earlier members of the window first, then stores the storm: a stored storm has all its members. A crash in
 * between leaves members of an unknown storm, and the repeat begins it.
 */
async function begin(
  stormId: string,
  { scope, recordedAtMs }: StormJoin,
  first: NewMember,
  { storms, clock, logger, stormSettings: { windowMs } }: StormOptions,
): Promise<void> {
  const openedAtMs = first.opened_at.getTime()
  await storms.adopt(stormId, { scope, fromMs: openedAtMs - windowMs, toMs: openedAtMs + windowMs })
  await storms.open(newStorm(stormId, { ...first, connection_id: scope }, clock.now(), recordedAtMs))
  logger.warn({ storm_id: stormId, ...namesOfScope(scope), project_id: first.project_id }, 'storm.began')
}

/** The names of a scope in log lines. */
export function namesOfScope(scope: string): Readonly<Record<string, string>> {
  const { connectionId, account } = partsOfStormScope(scope)
  return { connection_id: connectionId, ...(account ? { account } : {}) }
}
