import { expect, test } from 'vitest'
import { createMetrics } from '../ops/metrics.ts'
import { createKafkaMetrics } from './kafka-metrics.ts'

test('shows zero failed sends before the first failure, so that increase() sees it', async () => {
  const metrics = createMetrics('test')
  const kafka = createKafkaMetrics(metrics)
  const failures = async () => (await metrics.text()).match(/^kafka_send_failures_total\{.*$/gm)?.toSorted()
  expect(await failures()).toEqual([
    'kafka_send_failures_total{code="message_invalid",service="test"} 0',
    'kafka_send_failures_total{code="unavailable",service="test"} 0',
  ])
  kafka.sendFailed('unavailable')
  expect(await failures()).toContain('kafka_send_failures_total{code="unavailable",service="test"} 1')
})
