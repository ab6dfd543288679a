import { expect, test } from 'vitest'
import type { Ground } from '../../actors/truth.ts'
import { alert, deed, judged, MINUTE, OWN, received, rightRun, T0, withLists, withReceived } from '../right-run.ts'
import { CANARY_PROPERTIES } from './canaries.ts'

const OWN_PROPERTIES = CANARY_PROPERTIES.map(({ name }) => name)
const incident = { incident_id: 'inc_canary', code: 'CANARY_USED' }
const used = (ref: string) => alert('incident.opened', ref, { data: { incident } })

/** Faults about canaries, of a run in which a canary made a refund, and its alert arrived at a time. */
function faultsOf({
  alertedMs = (T0 + 100) as number | null,
  roleMs = T0 - MINUTE,
  grounds = [] as Ground[],
  ofAccount = [] as Ground[],
}): string[] {
  const run = rightRun()
  const accounts = [{ projectId: OWN, kind: 'subscription', grounds: ofAccount }]
  run.truth.deeds.push(deed('txn_1', { grounds, accounts }))
  run.truth.canaries.push({ projectId: OWN, role: { fromMs: roleMs, toMs: roleMs }, refs: ['txn_1'] })
  const alerts = alertedMs === null ? [] : [received(used('txn_1'), { atMs: alertedMs })]
  return judged(withReceived(run, ...alerts)).filter(fault => OWN_PROPERTIES.some(name => fault.startsWith(name)))
}

const at = { fromMs: T0, toMs: T0 }
const missing = expect.stringContaining('canaries-alert-at-once')

test('a change of a canary alerts within five seconds, explained or not, and whatever the setting is', () => {
  expect(faultsOf({})).toEqual([])
  expect(faultsOf({ alertedMs: T0 + 5_001 })).toEqual([missing])
  const explained: Ground = { reason: 'an operation', explains: true, begins: at }
  expect(faultsOf({ alertedMs: null, grounds: [explained] })).toEqual([missing])
  const setting: Ground = { reason: 'out_of_band is ignore', explains: false, isSetting: true, begins: at }
  expect(faultsOf({ alertedMs: null, ofAccount: [setting] })).toEqual([missing])
})

test('it need not alert in a silence, or while the role may not be known', () => {
  const silence: Ground = { reason: 'a silence', explains: false, begins: at }
  expect(faultsOf({ alertedMs: null, ofAccount: [silence] })).toEqual([])
  expect(faultsOf({ alertedMs: null, roleMs: T0 - 1_999 })).toEqual([])
})

test('no other change alerts as one of a canary, and no change has two incidents', () => {
  expect(judged(withReceived(rightRun(), received(used('re_stranger'))))).toContainEqual(
    expect.stringContaining('only-canaries-alert-as-such'),
  )
  const twice = withLists(rightRun(), ({ incidents }) => ({
    incidents: [
      ...incidents,
      ...['inc_1', 'inc_2'].map(incident_id => ({ ...incident, incident_id, action_id: 'act_1' })),
    ],
  }))
  expect(judged(twice)).toEqual([expect.stringContaining('one-incident-for-each-use-of-a-canary')])
})
