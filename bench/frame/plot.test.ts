import { expect, test } from 'vitest'
import { toSvg } from './plot.ts'

test('draws a bar for the median of each contender, in proportion to the largest value', () => {
  const contenders = [
    { name: 'ours', values: [40, 50, 60], median: 50 },
    { name: 'a <reference>', values: [90, 100, 100], median: 100 },
  ]
  const svg = toSvg([{ name: 'Throughput', readings: [{ name: 'rate', unit: '/s', contenders }], targets: [] }])
  expect([...svg.matchAll(/<rect x="220" .* width="([\d.]+)"/g)].map(([, width]) => Number(width))).toEqual([195, 390])
  expect(svg).toContain('Throughput: rate')
  expect(svg).toContain('a &lt;reference&gt;')
  expect(svg).toContain('100 /s')
})
