import { describe, expect, test } from 'vitest'
import { RereadLanes } from './reread-lanes.ts'

function harness(options = { maxActive: 4, maxWaiting: 3 }) {
  const lanes = new RereadLanes(options)
  const running: { name: string; end: () => void }[] = []
  const add = (connection: string, name: string, concurrent = 1) =>
    lanes.add(connection, concurrent, () => new Promise(end => running.push({ name, end })))
  const end = async (name: string) => {
    const index = running.findIndex(one => one.name === name)
    running.splice(index, 1)[0]?.end()
    for (let turn = 0; turn < 5; turn++) await Promise.resolve()
  }
  return { lanes, add, end, names: () => running.map(({ name }) => name) }
}

describe('askings of connections', () => {
  test('of one connection wait for each other, and hold up nobody else', async () => {
    const { add, end, names, lanes } = harness()
    for (const name of ['a1', 'a2', 'a3']) add('a', name)
    add('b', 'b1')
    expect(names()).toEqual(['a1', 'b1'])
    await end('a1')
    expect(names()).toEqual(['b1', 'a2'])
    expect(lanes.size).toBe(3)
  })

  test('run side by side as far as the provider allows', () => {
    const { add, names } = harness()
    for (const name of ['a1', 'a2', 'a3']) add('a', name, 2)
    expect(names()).toEqual(['a1', 'a2'])
  })

  test('take turns when all places are taken', async () => {
    const { add, end, names } = harness({ maxActive: 1, maxWaiting: 10 })
    for (const name of ['a1', 'a2']) add('a', name)
    add('b', 'b1')
    expect(names()).toEqual(['a1'])
    await end('a1')
    expect(names()).toEqual(['b1'])
    await end('b1')
    expect(names()).toEqual(['a2'])
  })

  test('beyond what may wait find no room until one ends, and nothing is kept of a connection that is done', async () => {
    const { add, end, lanes } = harness()
    for (const name of ['a1', 'a2', 'a3', 'a4']) add('a', name)
    expect(lanes.hasRoom('a')).toBe(false)
    expect(lanes.hasRoom('b')).toBe(true)
    for (const name of ['a1', 'a2', 'a3', 'a4']) await end(name)
    expect(lanes.size).toBe(0)
    expect(lanes.hasRoom('a')).toBe(true)
  })
})
