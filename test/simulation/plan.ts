import type { Change } from './actors/accounts.ts'
import { drawBudgets } from './actors/budgets.ts'
import { drawCanaries } from './actors/canaries.ts'
import { drawContests } from './actors/contests.ts'
import { drawDoubledRefunds } from './actors/doubled-refunds.ts'
import { drawErasures } from './actors/erasures.ts'
import { drawExpectedGroups } from './actors/expected-groups.ts'
import { drawOutages } from './actors/outages.ts'
import { drawPeople } from './actors/people.ts'
import { drawItems, type PlanItem, type PlanParts, RECOVERED_AFTER_MS, type Scene } from './actors/plan-items.ts'
import { drawReconnects } from './actors/reconnect.ts'
import { HABITS, makeChange } from './actors/software.ts'
import { drawStorms, useLeakedKey } from './actors/storms.ts'
import { drawUnknownObjects } from './actors/unknown-objects.ts'
import { drawUnusableEvents } from './actors/unusable-events.ts'

/** Changes are made within this time at least, and the others this much before the faults end, in milliseconds. */
const LEAST_MS = 15_000
const SECOND_LOOK_MS = 60_000

/** Draws everything that actors do in a run. Each item has a random source of its own. */
export function drawPlan(scene: Scene): PlanItem[] {
  // So early that most second looks, alerts and deliveries come while things still break.
  const early = { ...scene, durationMs: Math.max(LEAST_MS, scene.durationMs - SECOND_LOOK_MS) }
  return [
    ...drawChanges(early),
    ...drawCalmChanges(scene),
    ...drawLeakedKeys(scene),
    ...drawPeople(scene),
    ...drawOutages(scene),
    ...drawUnknownObjects(scene),
    ...drawReconnects(scene),
    ...drawStorms(early),
    ...drawExpectedGroups(early),
    ...drawCanaries(scene),
    ...drawDoubledRefunds(early),
    ...drawBudgets(scene),
    ...drawContests(scene),
    ...drawUnusableEvents(scene),
    ...drawErasures(scene),
  ]
}

/** Changes at the providers, which the customers' software reports or not. */
export function drawChanges(scene: PlanParts): PlanItem[] {
  const count = scene.random.fork('changes').between(3, 10)
  return drawItems(scene, { name: 'change', count }, ({ world, random, customers }, index) => {
    const change = random.pick(byWeight(random.pick(customers).changes))
    return makeChange(world, random, change, { habit: random.pick(HABITS), number: index + 1 })
  })
}

/** Each change as often as its weight says. Most changes are refunds, as at real accounts; they are also what alerts. */
function byWeight(changes: readonly Change[]): Change[] {
  return changes.flatMap(change => Array.from({ length: change.kind.weight }, () => change))
}

/** Changes of a stranger after the faults and the recovery from them. */
function drawCalmChanges(scene: Scene): PlanItem[] {
  const { durationMs } = scene
  return drawItems(
    { ...scene, durationMs: 15_000 },
    { name: 'calm change', count: scene.world.swarm().calmChanges },
    ({ world, random, customers }, index) => {
      const change = random.pick(byWeight(random.pick(customers).changes))
      return makeChange(world, random, change, { habit: 'nothing', number: 5_000 + index })
    },
  ).map(item => afterRecovery(item, durationMs))
}

function drawLeakedKeys(scene: Scene): PlanItem[] {
  const { leakedKeys: count } = scene.world.swarm()
  const calm = { ...scene, durationMs: 5_000 }
  return drawItems(calm, { name: 'leaked key', count }, useLeakedKey).map(item => afterRecovery(item, scene.durationMs))
}

function afterRecovery(item: PlanItem, durationMs: number): PlanItem {
  return { ...item, atMs: durationMs + RECOVERED_AFTER_MS + item.atMs }
}
