import { expect, test } from 'vitest'
import { dueHeartbeat, heartbeatEvent, heartbeatTimeOf } from './heartbeat-event.ts'

test('is the same event in every process, and another one for the next time', () => {
  const at = (nowMs: number) => heartbeatEvent(dueHeartbeat(nowMs, 60_000))
  expect(at(1_763_999_999_000)).toEqual(at(1_763_999_941_000))
  expect(at(1_764_000_000_000)).not.toEqual(at(1_763_999_999_000))
})

test('states its time in the id of its refund', () => {
  const { body } = heartbeatEvent(1_763_999_940_000)
  expect(heartbeatTimeOf(JSON.parse(body).data.object.id)).toBe(1_763_999_940_000)
  for (const id of ['re_1', 're_heartbeat_', 're_heartbeat_1x', '']) expect(heartbeatTimeOf(id)).toBeUndefined()
})
