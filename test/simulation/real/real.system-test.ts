/** The worlds of two seeds on the real processes, with the faults of the first: the simulated servers must not be kinder than the real ones. */
import { expect, test } from 'vitest'
import { dataFolder, stackUrls } from '../../setup/product.ts'
import { runReal } from './run.ts'

// Seed 12 has every kind of fault: a reconciler and a notifier are killed, and answers are lost.
test('two seeds are right on real parts', { retry: 0 }, async () => {
  const folder = dataFolder('simulation-real')
  const { runs, timeline } = await runReal({ seeds: [12, 3], minutes: 2, stack: stackUrls(), folder })
  const faults = runs.flatMap(({ seed, faults }) => faults.map(fault => `seed ${seed}: ${fault}`))
  expect(faults, timeline.join('\n')).toEqual([])
  expect(
    runs.every(({ alerts }) => alerts > 0),
    'alerts to the receivers of each seed',
  ).toBe(true)
})
