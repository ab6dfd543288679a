import { createManualClock } from '@backstop/kit/test'
import type { ProviderHealth } from '@backstop/providers'
import { describe, expect, test } from 'vitest'
import { RereadLanes } from './reread-lanes.ts'

function harness({
  places = { quick: 4, slow: 2 },
  maxWaiting = 3,
  health = {} as Record<string, ProviderHealth>,
} = {}) {
  const clock = createManualClock()
  const lanes = new RereadLanes({
    clock,
    places,
    quickForMs: 3_000,
    maxWaiting,
    maxWaitingForFailing: 1,
    healthOf: id => health[id] ?? 'answering',
  })
  const running: { name: string; end: () => void }[] = []
  const add = (connection: string, name: string, concurrent = 1) =>
    lanes.add(connection, concurrent, () => new Promise(end => running.push({ name, end })))
  const end = async (name: string) => {
    const index = running.findIndex(one => one.name === name)
    running.splice(index, 1)[0]?.end()
    for (let turn = 0; turn < 10; turn++) await Promise.resolve()
  }
  return { clock, lanes, add, end, names: () => running.map(({ name }) => name) }
}

describe('re-reads of connections', () => {
  test('of one connection wait for each other, and delay no other connection', async () => {
    const { add, end, names, lanes } = harness()
    for (const name of ['a1', 'a2', 'a3']) add('a', name)
    add('b', 'b1')
    expect(names()).toEqual(['a1', 'b1'])
    await end('a1')
    expect(names()).toEqual(['b1', 'a2'])
    expect(lanes.size).toBe(3)
  })

  test("run concurrently within the provider's limit", () => {
    const { add, names } = harness()
    for (const name of ['a1', 'a2', 'a3']) add('a', name, 2)
    expect(names()).toEqual(['a1', 'a2'])
  })

  test('are served in rotation if all places are used', async () => {
    const { add, end, names } = harness({ places: { quick: 1, slow: 1 }, maxWaiting: 10 })
    for (const name of ['a1', 'a2']) add('a', name)
    add('b', 'b1')
    expect(names()).toEqual(['a1'])
    await end('a1')
    expect(names()).toEqual(['b1'])
    await end('b1')
    expect(names()).toEqual(['a2'])
  })

  test('beyond the limit find no room until one ends, and an idle connection keeps no data', async () => {
    const { add, end, lanes } = harness()
    for (const name of ['a1', 'a2', 'a3', 'a4']) add('a', name)
    expect(lanes.hasRoom('a')).toBe(false)
    expect(lanes.hasRoom('b')).toBe(true)
    for (const name of ['a1', 'a2', 'a3', 'a4']) await end(name)
    expect(lanes.size).toBe(0)
    expect(lanes.hasRoom('a')).toBe(true)
  })

  test('whose providers fail use one place each, and no places of others', () => {
    const health = Object.fromEntries(['x', 'y', 'z'].map(id => [id, 'failing' as const]))
    const { add, names } = harness({ health })
    for (const id of ['x', 'y', 'z']) for (const count of [1, 2]) add(id, `${id}${count}`, 4)
    expect(names()).toEqual(['x1', 'y1'])
    for (const count of [1, 2, 3, 4]) add('a', `a${count}`, 4)
    expect(names()).toEqual(['x1', 'y1', 'a1', 'a2', 'a3', 'a4'])
  })

  test('whose providers were never asked run concurrently, in the slow places', () => {
    const { add, names } = harness({ health: { n: 'untried' } })
    for (const name of ['n1', 'n2', 'n3']) add('n', name, 4)
    expect(names()).toEqual(['n1', 'n2'])
  })

  test('that take long release their quick places', async () => {
    const { clock, add, names } = harness({ places: { quick: 2, slow: 1 } })
    for (const id of ['a', 'b', 'c', 'd', 'e']) add(id, id)
    expect(names()).toEqual(['a', 'b'])
    await clock.advance(3_000)
    expect(names()).toEqual(['a', 'b', 'c', 'd'])
    await clock.advance(3_000)
    expect(names()).toEqual(['a', 'b', 'c', 'd', 'e'])
  })

  test('of a provider that fails have a lower limit', () => {
    const health: Record<string, ProviderHealth> = {}
    const { add, lanes } = harness({ health })
    add('x', 'x1')
    add('x', 'x2')
    expect(lanes.hasRoom('x')).toBe(true)
    health.x = 'failing'
    expect(lanes.hasRoom('x')).toBe(false)
  })
})
