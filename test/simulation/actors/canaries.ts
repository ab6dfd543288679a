import { wait } from '../world/agenda.ts'
import type { Change } from './accounts.ts'
import { Refused } from './api-user.ts'
import { refundsByKey, untilNamed } from './biller-keys.ts'
import { whileSetTo } from './people.ts'
import { drawItems, type PlanItem, RECOVERED_AFTER_MS, type Scene } from './plan-items.ts'
import { HABITS, make, makeChange } from './software.ts'
import type { CanaryTruth, Deed } from './truth.ts'
import { confirmed, type World } from './world.ts'

const FIRST_NUMBER = 16_000
/** With the alerts that nothing explains them, fewer than make a storm. */
const MOST_USES = 4

/** People give an API key the role of a canary. Then somebody uses it. */
export function drawCanaries(scene: Scene): PlanItem[] {
  // The role is given so early that most uses come while things still break. The last one comes afterwards.
  const early = { ...scene, durationMs: Math.floor(scene.durationMs / 2) }
  return drawItems(early, { name: 'canary', count: scene.world.swarm().canaries }, (own, _, leftMs) =>
    useCanary(own, own.world.clock.now + leftMs + scene.durationMs - early.durationMs),
  )
}

async function useCanary({ world, random, customers }: Scene, faultsEndMs: number): Promise<void> {
  const { clock } = world
  // The release before knows no incident of canaries, so people give the role after the update (docs/actors.md).
  if (world.swarm().updateAtMs > 0) return
  const change = refundsByKey(random.pick(customers), 'Old backup key')
  const account = change.accounts[0]!
  if (!account.isConnected) return
  const first = make({ world, random, kind: change.kind, change, prepared: change.kind.prepare(FIRST_NUMBER) })
  const canary = await giveRole(world, first)
  if (canary === undefined) return
  const use = async (number: number) => {
    await wait(clock, random.between(0, 15_000))
    const habit = random.chance(0.5) ? 'nothing' : random.pick(HABITS)
    await makeChange(world, random, noting(change, canary), { habit, number: FIRST_NUMBER + number })
    world.happened('a canary was used')
  }
  const count = random.between(2, MOST_USES)
  const useEarly = async () => {
    for (let number = 1; number < count; number += 1) await use(number)
  }
  if (random.chance(0.6) || account.isBeingChanged || !account.isConnected) await useEarly()
  else {
    account.isBeingChanged = true
    await whileSetTo('ignore', { world, account }, useEarly)
    account.isBeingChanged = false
    world.happened('a canary was used at an account that is set to ignore')
  }
  await wait(clock, Math.max(0, faultsEndMs + RECOVERED_AFTER_MS - clock.now))
  await use(count)
}

/** Gives the actor of a change the role, when the product lists it. Undefined if it does not list it. */
async function giveRole(world: World, first: Deed): Promise<CanaryTruth | undefined> {
  const { clock, api, truth, swarm } = world
  const { projectId } = first
  const actorId = await untilNamed(world, first)
  if (actorId === undefined) return undefined
  // By every clock the first change was seen before.
  await wait(clock, 2 * swarm().clockMs + 1)
  const canary: CanaryTruth = { projectId, role: { fromMs: clock.now }, refs: [] }
  truth.canaries.push(canary)
  try {
    await confirmed(world, canary.role, api.patch(`/v1/projects/${projectId}/actors/${actorId}`, { role: 'canary' }))
  } catch (error) {
    // Its account was disconnected meanwhile, so nobody knows the actor any more.
    if (!(error instanceof Refused) || error.status !== 404) throw error
  }
  return canary
}

/** The change, noted as one of the canary when it is made. */
function noting({ kind, accounts }: Change, { refs }: CanaryTruth): Change {
  const prepare: typeof kind.prepare = number => {
    const prepared = kind.prepare(number)
    return {
      ...prepared,
      make(key) {
        const made = prepared.make(key)
        refs.push(made.ref)
        return made
      },
    }
  }
  return { accounts, kind: { ...kind, prepare } }
}
