import type { Random } from '../world/random.ts'
import type { Customer } from './customer.ts'
import type { Outside } from './outside.ts'
import type { World } from './world.ts'

/** A consumer group notices that a process ended after its session time-out, and a restart takes seconds, in milliseconds. */
export const RECOVERED_AFTER_MS = 61_000

/** Something that an actor does at a time. A run can leave it out, so that a failure can be made shorter. */
export interface PlanItem {
  readonly name: string
  /** Milliseconds after the faults begin. */
  readonly atMs: number
  act(): Promise<unknown>
}

/** What an actor needs to do something in a run. */
export interface PlanParts {
  readonly world: World
  readonly random: Random
  readonly customers: readonly Customer[]
  /** How long the faults last, in milliseconds. */
  readonly durationMs: number
}

/** The parts of a run whose network is simulated, too. */
export interface Scene extends PlanParts {
  readonly outside: Outside
}

/**
 * Draws when an actor acts. Each time has a random source of its own.
 * @param act `leftMs`: milliseconds until the faults end; an accident that lasts ends by then
 */
export function drawItems<Parts extends PlanParts>(
  scene: Parts,
  { name, count }: { readonly name: string; readonly count: number },
  act: (scene: Parts, index: number, leftMs: number) => Promise<unknown>,
): PlanItem[] {
  return Array.from({ length: count }, (_, index) => {
    const random = scene.random.fork(`${name} ${index}`)
    const atMs = random.between(0, scene.durationMs - 1)
    return { name: `${name} ${index}`, atMs, act: () => act({ ...scene, random }, index, scene.durationMs - atMs) }
  })
}
