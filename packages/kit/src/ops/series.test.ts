import fc from 'fast-check'
import { Counter as PromCounter, Histogram as PromHistogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { createMetrics } from './metrics.ts'

const BOUNDS = [0.005, 0.1, 2.5]
const method = fc.constantFrom('GET', 'POST', 'a "quoted" \\ one', 'two\nlines', 'Zürich', '')
const status = fc.constantFrom('200', '400')
const event = fc.record({ method, status, value: fc.constantFrom(0, 0.005, 0.0051, 0.1, 2.5, 99) })

test('counters and histograms have the text that prom-client writes for its own', async () => {
  const property = fc.asyncProperty(fc.array(event, { maxLength: 30 }), async events => {
    const metrics = createMetrics('test')
    const counter = metrics.counter('things_total', 'Things', ['method', 'status'])
    const plain = metrics.counter('all_total', 'All things', [])
    const histogram = metrics.histogram('thing_seconds', 'Duration', ['method', 'status'], BOUNDS)
    const unlabelled = metrics.histogram('all_seconds', 'Duration of all', [], BOUNDS)

    const registry = new Registry()
    registry.setDefaultLabels({ service: 'test' })
    const registers = [registry]
    const labelNames = ['method', 'status']
    const promCounter = new PromCounter({ name: 'things_total', help: 'Things', labelNames, registers })
    const promPlain = new PromCounter({ name: 'all_total', help: 'All things', registers })
    const buckets = BOUNDS
    const promHistogram = new PromHistogram({ name: 'thing_seconds', help: 'Duration', labelNames, buckets, registers })
    const promUnlabelled = new PromHistogram({ name: 'all_seconds', help: 'Duration of all', buckets, registers })

    for (const { value, ...labels } of events) {
      counter.inc(labels, value)
      promCounter.inc(labels, value)
      plain.inc()
      promPlain.inc()
      histogram.observe(labels, value)
      promHistogram.observe(labels, value)
      unlabelled.observe({}, value)
      promUnlabelled.observe(value)
    }
    const text = await metrics.text()
    for (const name of ['things_total', 'all_total', 'thing_seconds', 'all_seconds']) {
      expect(text).toContain(await registry.getSingleMetricAsString(name))
    }
  })
  await fc.assert(property, { numRuns: 100 })
})

test('a histogram shows a series before its first value', async () => {
  const metrics = createMetrics('test')
  metrics.histogram('thing_seconds', 'Duration', ['channel'], BOUNDS).zero({ channel: 'slack' })
  expect(await metrics.text()).toMatch(/^thing_seconds_count\{.*channel="slack".*\} 0$/m)
})

test('a series has the labels of its metric, and keeps them when the object of its first call changes', async () => {
  const metrics = createMetrics('test')
  const counter = metrics.counter('things_total', 'Things', ['method'])
  const request = { method: 'GET', path: '/v1/things/1' }
  counter.inc(request)
  request.method = 'POST'
  counter.inc({ method: 'GET' })
  expect(await metrics.text()).toContain('\nthings_total{method="GET",service="test"} 2\n')
})

test('a name is taken once', () => {
  const metrics = createMetrics('test')
  metrics.counter('things_total', 'Things', [])
  expect(() => metrics.histogram('things_total', 'Others', [], BOUNDS)).toThrow('already been registered')
})
