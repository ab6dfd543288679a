import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createMetrics } from '@backstop/kit/ops'
import { expect, test } from 'vitest'
import { REJECTION_REASONS } from './rejection-reasons.ts'
import { createRequestMetrics } from './request-metrics.ts'

test('docs/metrics.md explains every reason, and no other', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../../../docs/metrics.md'), 'utf8')
  const [, section = ''] = page.split('### Reasons of ingress_rejected_total')
  const rows = section.split('\n## ')[0]?.matchAll(/^\| [^|]* \| (`.*?`) \|/gm) ?? []
  const documented = [...rows].flatMap(([, cell = '']) => [...cell.matchAll(/`([a-z0-9_]+)`/g)].map(([, name]) => name))
  expect(documented.filter(name => name !== 'reason').sort()).toEqual([...REJECTION_REASONS].sort())
})

test('counts each reason from zero, so that a rule sees the first refusal', async () => {
  const metrics = createMetrics('ingress')
  createRequestMetrics(metrics)
  const text = await metrics.text()
  for (const reason of REJECTION_REASONS)
    expect(text).toMatch(new RegExp(`^ingress_rejected_total\\{.*reason="${reason}".*\\} 0$`, 'm'))
})
