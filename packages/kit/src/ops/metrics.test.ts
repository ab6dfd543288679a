import { expect, test } from 'vitest'
import { recordBuildInfo } from './build-info.ts'
import { createMetrics } from './metrics.ts'

test('runs the collectors before each read', async () => {
  const metrics = createMetrics('test')
  const reads = metrics.gauge('reads', 'Reads', [])
  metrics.beforeRead(async () => reads.inc())
  await metrics.text()
  expect(await metrics.text()).toContain('reads{service="test"} 2')
})

test('counts a failed collector, and reads the other metrics', async () => {
  const metrics = createMetrics('test')
  const other = metrics.gauge('other', 'Another gauge', [])
  metrics.beforeRead(() => {
    throw new Error('not now')
  })
  metrics.beforeRead(() => other.set(3))
  const text = await metrics.text()
  expect(text).toContain('other{service="test"} 3')
  expect(text).toContain('metrics_collect_failures_total{service="test"} 1')
})

test('has one label for all unknown methods', async () => {
  const metrics = createMetrics('test')
  for (const method of ['GET', 'PROPFIND', 'MKCOL']) {
    metrics.recordHttpRequest({ method, route: '/things/{id}', status: 200, durationS: 0.02 })
  }
  const text = await metrics.text()
  const counts = [...text.matchAll(/_count\{.*method="(\w+)".*\} (\d+)/g)].map(([, method, count]) => [method, count])
  expect(counts).toEqual([
    ['GET', '1'],
    ['other', '2'],
  ])
})

test('names the running build', async () => {
  const metrics = createMetrics('test')
  recordBuildInfo(metrics, 'abc1234')
  expect(await metrics.text()).toMatch(
    /^backstop_build_info\{version="\d+\.\d+\.\d+(?:-dev)?\+gabc1234",revision="abc1234",node="2\d\..*",service="test"\} 1$/m,
  )
})
