import type { WorldClock } from '../world/agenda.ts'
import type { Cluster } from '../world/cluster.ts'
import type { Swarm } from '../world/swarm.ts'
import type { ApiUser } from './api-user.ts'
import type { Moment, Truth } from './truth.ts'

/** What every actor uses. */
export interface World {
  readonly clock: WorldClock
  readonly cluster: Pick<Cluster, 'request'>
  readonly api: ApiUser
  readonly truth: Truth
  /**
   * How long it may take, in milliseconds, until the product has read a change that a notification only hints at. Sooner than that nothing
   * takes such a change back, because nobody can see it afterwards.
   */
  readonly hintsAreReadWithinMs: number
  /** The faults that are on now. */
  swarm(): Swarm
  /** Counts something that must happen in some runs. */
  happened(name: string): void
  /** Adds a line to the timeline. */
  note(text: string): void
}

/** Records in a moment when a call was answered. @throws what the call throws */
export async function confirmed<T>({ clock }: Pick<World, 'clock'>, moment: Moment, call: Promise<T>): Promise<T> {
  const answer = await call
  moment.toMs = clock.now
  return answer
}
