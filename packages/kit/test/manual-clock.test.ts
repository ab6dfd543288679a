import { expect, test } from 'vitest'
import { createManualClock } from './manual-clock.ts'

const turn = () => new Promise<void>(resolve => setImmediate(resolve))

test('waits for long chains of promises, and for work that itself waits for turns of the event loop', async () => {
  const clock = createManualClock()
  const done: string[] = []
  clock.schedule(1_000, async () => {
    for (let link = 0; link < 1_000; link++) await Promise.resolve()
    done.push('promises')
    for (let link = 0; link < 10; link++) await turn()
    done.push('turns')
  })
  await clock.advance(1_000)
  expect(done).toEqual(['promises', 'turns'])
})

test('runs callbacks at their times, and those of one time in the order in which they were scheduled', async () => {
  const clock = createManualClock(0)
  const ran: string[] = []
  const at = (delayMs: number, name: string) =>
    clock.schedule(delayMs, () => void ran.push(`${name} at ${clock.now()}`))
  at(20, 'late')
  at(10, 'first')
  const cancel = at(10, 'cancelled')
  clock.schedule(10, () => at(5, 'nested'))
  cancel()
  at(30, 'too late')
  await clock.advance(20)
  expect(ran).toEqual(['first at 10', 'nested at 15', 'late at 20'])
})
