import { sampleAction, sampleBurst, sampleCanary } from '@backstop/channels/test'
import { expect, test } from 'vitest'
import { breaksQuietHours, isAlarm } from './urgent-alert.ts'

test.each([
  { name: 'a burst', alert: sampleBurst(), isUrgent: true },
  { name: 'a canary', alert: sampleCanary(), isUrgent: true },
  { name: 'one unexplained action', alert: sampleAction(), isUrgent: false },
])('$name is a message of its own, which quiet hours do not hold: $isUrgent', ({ alert, isUrgent }) => {
  expect([isAlarm(alert), breaksQuietHours(alert)]).toEqual([isUrgent, isUrgent])
})
