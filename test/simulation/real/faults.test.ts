import { expect, test } from 'vitest'
import { createRandom } from '../world/random.ts'
import { drawFaults, type Fault } from './faults.ts'

const options = { members: ['ingress', 'notifier'], durationMs: 20_000, areServersOwn: true }
const draw = (seed: number, more: object = {}) => drawFaults(createRandom(seed), { ...options, ...more })
const seeds = Array.from({ length: 50 }, (_, index) => index + 1)

test('draws the same faults from the same seed, earliest first', () => {
  for (const seed of seeds) {
    expect(draw(seed)).toEqual(draw(seed))
    const times = draw(seed).map(({ atMs }) => atMs)
    expect(times).toEqual(times.toSorted((one, other) => one - other))
    expect(times.every(atMs => atMs < options.durationMs)).toBe(true)
  }
})

test('leaves each kind out in some seeds, and has each in others', () => {
  const kinds = new Set<Fault['kind']>(seeds.flatMap(seed => draw(seed).map(({ kind }) => kind)))
  expect([...kinds].sort()).toEqual([
    'cut',
    'disturbed',
    'frozen',
    'killed',
    'lost_answer',
    'server_frozen',
    'server_killed',
    'step_down',
    'terminated',
  ])
  for (const kind of kinds)
    expect(
      seeds.some(seed => !draw(seed).some(fault => fault.kind === kind)),
      kind,
    ).toBe(true)
})

test('spares servers that others use, and draws the same other faults', () => {
  for (const seed of seeds) {
    const isOfServer = ({ kind }: Fault) => kind.startsWith('server_') || kind === 'step_down'
    expect(draw(seed, { areServersOwn: false })).toEqual(draw(seed).filter(fault => !isOfServer(fault)))
  }
})
