import { namesOfScope, type StormOptions } from './join-storms.ts'
import { type BurstOfAlert, stormOfBurst } from './rules/burst-of-alert.ts'

/** How an alert about a burst belongs to its storm. */
export interface BurstMembership {
  readonly storm_id: string
  /** True if people get the alert. Otherwise the reports of the storm say the same. */
  readonly alone: boolean
  /** True if the storm goes on without the burst, so the alert must not resolve what people have of the storm. */
  readonly leavesStorm: boolean
}

/**
 * Opens the storm of a burst before any delivery is produced, so that all later incidents of the connection join it from the first one
 * on. Forgets the storm of a burst that is explained and that no incident joined. Every step is conditional, so a repeat after a crash ends
 * in the same state.
 */
export function followBurst(burst: BurstOfAlert, options: StormOptions): Promise<BurstMembership> {
  return burst.isNew ? begin(burst, options) : goOn(burst, options)
}

/**
 * A scope has one open storm, so a burst during another storm belongs to that one. Its alert is a message of that story, because the
 * next report may be an hour away.
 */
async function begin(burst: BurstOfAlert, { storms, clock, logger }: StormOptions): Promise<BurstMembership> {
  const { storm_id, connection_id, project_id, incident_id, opened_at, count } = burst
  await storms.open(stormOfBurst(burst, clock.now()))
  const open = (await storms.openStormOf(connection_id)) ?? storm_id
  if (open !== storm_id) await storms.addBurst(open, { incident_id, opened_at, count })
  logger.warn({ storm_id: open, incident_id, ...namesOfScope(connection_id), project_id, count }, 'storm.burst')
  return { storm_id: open, alone: true, leavesStorm: false }
}

async function goOn(burst: BurstOfAlert, { storms, logger }: StormOptions): Promise<BurstMembership> {
  const { connection_id, event, outcome } = burst
  const storm_id = (await storms.openStormOf(connection_id)) ?? burst.storm_id
  const storm = await storms.find(storm_id)
  const hasMembers = storm !== undefined && (await storms.countMembers(storm)) > 0
  if (event !== 'incident.resolved' || outcome === undefined) {
    return { storm_id, alone: event === 'incident.opened' || !hasMembers, leavesStorm: false }
  }
  if (outcome === 'confirmed') return { storm_id, alone: false, leavesStorm: false }
  if (storm !== undefined && !hasMembers) {
    await storms.remove(storm)
    logger.info({ storm_id, ...namesOfScope(connection_id), project_id: storm.project_id }, 'storm.forgotten')
  }
  return { storm_id, alone: true, leavesStorm: hasMembers }
}
