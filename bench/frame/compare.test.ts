import { expect, test } from 'vitest'
import type { Comparison } from './benchmark.ts'
import { runComparison } from './compare.ts'
import { toTable } from './table.ts'

/** A contender that returns these rates, one per round. */
const rates = (name: string, ...values: number[]) => ({
  name,
  measure: async () => ({ rate: values.shift() ?? Number.NaN }),
})

function comparison(): Comparison {
  return {
    name: 'Throughput',
    readings: { rate: '/s' },
    contenders: [rates('ours', 50, 60, 10), rates('reference', 100, 100, 10)],
    targets: [
      { reading: 'rate', of: 'ours', against: 'reference', is: 'at least', value: 0.6 },
      { reading: 'rate', of: 'ours', is: 'at most', value: 49 },
    ],
  }
}

test('measures contenders in an order that reverses with every round', async () => {
  const order: string[] = []
  await runComparison(comparison(), 3, (round, contender) => order.push(`${round} ${contender}`))
  expect(order).toEqual(['1 ours', '1 reference', '2 reference', '2 ours', '3 ours', '3 reference'])
})

test('judges a target against a reference by the median of the ratios, and any other target by the median', async () => {
  const { targets } = await runComparison(comparison(), 3, () => {})
  // The ratios are 0.5, 0.6 and 1. A round on a busy machine counts like any other.
  expect(targets).toMatchObject([
    { reached: 0.6, isMet: true },
    { reached: 50, isMet: false },
  ])
})

test('throws if a contender lacks a reading', async () => {
  const wrong = { ...comparison(), readings: { other: '/s' as const } }
  await expect(runComparison(wrong, 1, () => {})).rejects.toThrow('ours was not read off "other"')
})

test('shows each contender with its spread, and each target with the value that was reached', async () => {
  const table = toTable(await runComparison(comparison(), 3, () => {}))
  expect(table.split('\n').map(line => line.trimEnd())).toEqual([
    'Throughput',
    'rate           median   least – most   ours / this',
    '  ours        50.0 /s    10.0 – 60.0          1.00',
    '  reference    100 /s     10.0 – 100          0.50',
    '✓ rate, ours / reference: 0.60, to be at least 0.60',
    '✗ rate, ours: 50.0 /s, to be at most 49.0 /s',
  ])
})
