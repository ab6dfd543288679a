/**
 * Three attacks at once on the whole product: garbage, more slow clients than there are sockets, and a customer who tries to
 * have secrets sent elsewhere. How soon authentic events are answered meanwhile is measured by `npm run bench -- floods`; the
 * bound here leaves room for a machine that does other things as well.
 */
import { afterAll, expect, test } from 'vitest'
import { type FloodWorld, openFloodWorld } from '../../bench/floods/world.ts'
import { dataFolder, stackUrls } from '../world/product.ts'

const CALM_S = 5
const ATTACK_S = 15
/** A machine that is short of time slows down both, so the calm run says what it can do. */
const P99_FLOOR_MS = 2_000
const P99_TIMES_CALM = 10

let world: FloodWorld | undefined
afterAll(() => world?.stop())

test('every authentic event and nothing else reaches a topic, and soon, beside floods and an exfiltration attempt', async () => {
  world = await openFloodWorld('floods', stackUrls(), dataFolder('floods'))
  await world.calm(CALM_S)
  const calm = await world.calm(CALM_S)
  const attacked = await world.attacked(ATTACK_S)
  const { p50Ms, p99Ms, counts, exfiltrations, failures, breaches } = attacked
  process.stdout.write(
    `floods: ${JSON.stringify({ calm_p99_ms: calm.p99Ms, p50_ms: p50Ms, p99_ms: p99Ms, failures, counts, exfiltrations })}\n`,
  )
  const { eventIds, marked, validIds } = await world.topics()
  expect([...eventIds].filter(id => !validIds.has(id))).toEqual([])
  expect([...validIds].filter(id => !eventIds.has(id))).toEqual([])
  expect(marked).toBe(0)
  expect(breaches).toEqual([])
  // Slow clients beyond the limit made room for the authentic sender, and not the other way round.
  expect(failures).not.toHaveProperty('ECONNRESET')
  // The attack was one: each part of it got as far as it could.
  expect(counts.garbage).toBeGreaterThan(1_000)
  expect(counts.dialled).toBeGreaterThan(5_000)
  expect(counts.droppedSockets).toBeGreaterThan(0)
  expect(exfiltrations).toBeGreaterThan(10)
  expect(p99Ms).toBeLessThan(Math.max(P99_FLOOR_MS, calm.p99Ms * P99_TIMES_CALM))
})
