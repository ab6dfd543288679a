import { expect, test } from 'vitest'
import { until } from '../../test/until.ts'
import { watchLoad } from './load-watch.ts'

test('the event-loop watch detects a blocked loop and its recovery', async () => {
  const watch = watchLoad({ maxUtilization: 0.95, maxLagP99Ms: 30 }, 60)
  expect(watch.judge()).toEqual({ kind: 'bearable' })
  await until('overload', () => {
    // Blocks the event loop for longer than the limit, like too much work.
    const end = performance.now() + 50
    while (performance.now() < end);
    return watch.judge().kind === 'overloaded'
  })
  await until('rest', () => watch.judge().kind === 'bearable')
  watch.stop()
})
