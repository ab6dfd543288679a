import type { WorldClock } from '../world/agenda.ts'
import type { Cluster } from '../world/cluster.ts'
import type { Random } from '../world/random.ts'
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
   * Calls `act` when the product has read the changes so far of which notifications give only hints. Nothing takes such a change back
   * sooner, because nobody can see it afterwards.
   * @param random draws the time, where a time is enough
   */
  whenHintsAreRead(random: Random, act: () => void): void
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
