import { expect, test } from 'vitest'
import { createSlowReading } from './slow-reading.ts'

function reading(everyMs: number, withinMs: number, read: () => Promise<void>) {
  const failures: string[] = []
  const collect = createSlowReading({
    everyMs,
    withinMs,
    read,
    onFailure: error => void failures.push(error instanceof Error ? error.message : String(error)),
  })
  return { collect, failures }
}

test('reads once for all calls within the pause', async () => {
  let reads = 0
  const { collect } = reading(60_000, 1_000, async () => {
    reads += 1
  })
  await Promise.all([collect(), collect()])
  await collect()
  expect(reads).toBe(1)
})

test('reads again after the pause, also after a failure', async () => {
  let reads = 0
  const { collect, failures } = reading(0, 1_000, async () => {
    reads += 1
    if (reads === 1) throw new Error('down')
  })
  await collect()
  await collect()
  expect({ reads, failures }).toEqual({ reads: 2, failures: ['down'] })
})

test('gives a hanging reading up for the caller, and starts no second one beside it', async () => {
  let reads = 0
  const { collect, failures } = reading(0, 20, () => {
    reads += 1
    return new Promise(() => undefined)
  })
  await collect()
  await collect()
  expect({ reads, failures }).toEqual({ reads: 1, failures: Array(2).fill('No answer within 20 ms') })
})

test('reads again when a reading hangs for too long', async () => {
  let reads = 0
  const failures: string[] = []
  const collect = createSlowReading(
    {
      everyMs: 0,
      withinMs: 1_000,
      read() {
        reads += 1
        return reads === 1 ? new Promise(() => undefined) : Promise.resolve()
      },
      onFailure: error => void failures.push(String(error)),
    },
    20,
  )
  await collect()
  await collect()
  expect({ reads, failures }).toEqual({ reads: 2, failures: ['Error: The reading hangs for 20 ms'] })
})
