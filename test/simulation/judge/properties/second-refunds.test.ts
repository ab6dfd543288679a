import { expect, test } from 'vitest'
import type { Ground } from '../../actors/truth.ts'
import { alert, deed, delivery, judged, received, rightRun, T0, withLists } from '../right-run.ts'

const explained: Ground = { reason: 'an operation', explains: false, begins: { fromMs: T0, toMs: T0 } }
const pair = [deed('re_1', { grounds: [explained] }), deed('re_2', { grounds: [explained] })] as const
const incident = (id: string) => ({ incident_id: id, code: 'REFUNDED_TWICE' })

/** Faults about second refunds, of a run with these incidents, each about one refund. */
function faultsOf(
  openings: readonly { ref: string; id: string; state?: string }[],
  { hasRule = true, grounds = [] as Ground[] } = {},
): string[] {
  const run = rightRun()
  const deeds = [pair[0], { ...pair[1], grounds: [...pair[1].grounds, ...grounds] as Ground[] }] as const
  run.truth.deeds.push(...deeds)
  run.truth.doubled.push({ deeds, hasRule })
  for (const { ref, id } of openings)
    run.truth.received.push(received(alert('incident.opened', ref, { data: { incident: incident(id) } })))
  return judged(
    withLists(run, ({ incidents, deliveries }) => ({
      incidents: [
        ...incidents,
        ...openings.map(({ id, state = 'open' }) => ({ ...incident(id), state, reason: null })),
      ],
      deliveries: [
        ...deliveries,
        ...openings.map(({ ref }) => delivery({ delivery_id: `dlv_alr_incident.opened_${ref}` })),
      ],
    })),
  ).filter(fault => fault.startsWith('second-refunds'))
}

test('a doubled refund alerts once, about one of both', () => {
  expect(faultsOf([{ ref: 're_2', id: 'inc_1' }])).toEqual([])
  expect(faultsOf([{ ref: 're_1', id: 'inc_1' }])).toEqual([])
  expect(faultsOf([])).toEqual([expect.stringContaining('was not notified')])
  const both = [
    { ref: 're_1', id: 'inc_1' },
    { ref: 're_2', id: 'inc_2' },
  ]
  expect(faultsOf(both)).toEqual([expect.stringContaining('opened 2 incidents')])
})

test('it may alert again if the first incident ended by itself', () => {
  const ended = { ref: 're_1', id: 'inc_1', state: 'resolved' }
  expect(faultsOf([ended, { ref: 're_2', id: 'inc_2' }])).toEqual([])
})

test('it does not alert without the rule, need not alert in a silence, and no other refund alerts so', () => {
  expect(faultsOf([{ ref: 're_2', id: 'inc_1' }], { hasRule: false })).toEqual([
    expect.stringContaining('without the rule'),
  ])
  const hidden: Ground = { reason: 'disconnected', explains: false, begins: { fromMs: T0 }, mayHide: true }
  expect(faultsOf([], { grounds: [hidden] })).toEqual([])
  expect(
    faultsOf([
      { ref: 're_2', id: 'inc_1' },
      { ref: 're_stranger', id: 'inc_3' },
    ]),
  ).toEqual([expect.stringContaining('made once')])
})
