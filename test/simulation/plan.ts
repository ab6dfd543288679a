import type { Customer } from './actors/customer.ts'
import { HABITS, makeChange, type SoftwareParts } from './actors/software.ts'
import type { Random } from './world/random.ts'

/** Something that an actor does at a time. A run can leave it out, so that a failure can be made shorter. */
export interface PlanItem {
  readonly name: string
  /** Milliseconds after the faults begin. */
  readonly atMs: number
  act(): Promise<unknown>
}

export interface PlanParts extends Omit<SoftwareParts, 'projectId' | 'random'> {
  readonly random: Random
  readonly customers: readonly Customer[]
  /** How long the faults last, in milliseconds. */
  readonly durationMs: number
}

/** Draws everything that actors do in a run. Each item has a random source of its own. */
export function drawPlan({ random, customers, durationMs, ...parts }: PlanParts): PlanItem[] {
  return Array.from({ length: random.between(4, 16) }, (_, index) => {
    const own = random.fork(`change ${index}`)
    const { kinds, projectId } = own.pick(customers)
    const kind = own.pick(kinds)
    const habit = own.pick(HABITS)
    return {
      name: `change ${index}`,
      atMs: own.between(0, durationMs - 1),
      act: () => makeChange(kind, habit, index + 1, { ...parts, random: own, projectId }),
    }
  })
}
