import { alert, sampleBurst, testAlert } from '@backstop/channels/test'
import { expect, test } from 'vitest'
import { orderingKey } from './ordering-key.ts'

test('messages about one incident share their key, and those about a burst the key of its storm; a test stands for itself', () => {
  expect(orderingKey(alert({ id: 'a', incident: { incident_id: 'inc_9' } }))).toBe('inc_9')
  expect(orderingKey(sampleBurst({}, { storm_id: 'stm_9' }))).toBe('stm_9')
  expect(orderingKey(sampleBurst({}, { storm_id: null, incident_id: 'inc_9' }))).toBe('inc_9')
  expect(orderingKey(testAlert('chn_1', 'alr_9'))).toBe('alr_9')
})
