import { systemClock } from '@backstop/kit/clock'
import { createLogger } from '@backstop/kit/logger'
import { expect, test } from 'vitest'
import { post } from '../../test/http-client.ts'
import { credentialOf, eventOf, startMemoryIngress } from '../../test/memory-ingress.ts'

test('a flood of refusals leaves 100 log lines per second, then the number of the others, and does not hide received events', async () => {
  const lines: Record<string, unknown>[] = []
  const logger = createLogger('ingress', 'info', { write: line => lines.push(JSON.parse(line)) })
  let nowMs = Date.now()
  const clock = { ...systemClock, now: () => nowMs, isMeasured: () => true }
  const ingress = await startMemoryIngress({ ports: { logger, clock } })
  const url = `${ingress.base}/v1/webhooks/processor/con_processor`
  const postForged = () => post(url, '{}', credentialOf('processor', 'other', nowMs))
  const refusals = () => lines.filter(({ msg }) => msg === 'event.refused')
  try {
    for (let sent = 0; sent < 120; sent += 1) expect((await postForged()).status).toBe(400)
    expect(refusals()).toHaveLength(100)
    const body = JSON.stringify(eventOf('processor', 'evt_during'))
    expect((await post(url, body, credentialOf('processor', body, nowMs))).status).toBe(200)
    expect(lines.at(-1)).toMatchObject({ msg: 'event.ingested', event_id: 'evt_during' })
    nowMs += 1_000
    await postForged()
    expect(refusals()).toHaveLength(101)
    expect(lines.at(-1)).toMatchObject({ reason: 'signature_mismatch', unwritten_lines: 20 })
    expect(await ingress.metrics()).toMatch(/^ingress_rejected_total\{reason="signature_mismatch",.*\} 121$/m)
  } finally {
    await ingress.stop()
  }
})
