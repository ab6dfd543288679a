import { alert, PROJECT } from '@backstop/channels/test'
import { expect, test } from 'vitest'
import { judgeChannel } from '../../delivery/rules/channel-state.ts'
import { fanOut } from './fan-out.ts'

const listener = (channelId: string, events: string[], projectId = PROJECT) => ({
  channelId,
  projectId,
  events,
  showsPersonalData: false,
  filter: null,
})

test('an alert goes once to each channel of its project that chose its event, and the same alert gives the same ids', () => {
  const listeners = [
    listener('chn_a', ['incident.opened', 'run.failed']),
    listener('chn_b', ['run.failed']),
    listener('chn_c', ['incident.opened'], 'prj_other'),
    listener('chn_d', ['incident.opened']),
  ]
  const requests = fanOut(alert(), listeners)
  expect(requests.map(request => request.channel_id)).toEqual(['chn_a', 'chn_d'])
  expect(new Set(requests.map(request => request.delivery_id)).size).toBe(2)
  expect(requests.every(request => request.attempt === 1 && !request.test)).toBe(true)
  expect(fanOut(alert(), listeners)).toEqual(requests)
})

test('an alert goes to no channel whose filter excludes it', () => {
  const filter = { connection_ids: ['con_2'], kinds: null, minimum_amounts: null }
  const listeners = [{ ...listener('chn_a', ['incident.opened']), filter }, listener('chn_b', ['incident.opened'])]
  expect(fanOut(alert(), listeners).map(request => request.channel_id)).toEqual(['chn_b'])
})

test.each([
  { name: 'one that is on', enabled: true, deleted: false, disabledReason: null, kind: 'works', tested: 'works' },
  { name: 'one that is off', enabled: false, deleted: false, disabledReason: null, kind: 'ends', tested: 'works' },
  {
    name: 'one disabled by its health',
    enabled: true,
    deleted: false,
    disabledReason: 'x',
    kind: 'ends',
    tested: 'works',
  },
  { name: 'a deleted one', enabled: true, deleted: true, disabledReason: null, kind: 'ends', tested: 'ends' },
])('a delivery to $name: $kind; a test of it: $tested', ({ enabled, deleted, disabledReason, kind, tested }) => {
  expect(judgeChannel({ enabled, deleted, disabledReason }, false).kind).toBe(kind)
  expect(judgeChannel({ enabled, deleted, disabledReason }, true).kind).toBe(tested)
  expect(judgeChannel(undefined, true).kind).toBe('ends')
})
