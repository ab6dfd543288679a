import type { IncomingMessage } from '@backstop/kit/bus'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { post } from '../test/http-client.ts'
import { credentialOf, eventOf } from '../test/memory-ingress.ts'
import { type IngressProcess, type ProvisionedStack, provisionStack, spawnIngress } from '../test/real-ingress.ts'
import { INGRESS_CRASH_POINTS } from './crash-points.ts'

let parts: ProvisionedStack
const processes: IngressProcess[] = []
beforeAll(async () => {
  parts = await provisionStack()
})
afterAll(async () => {
  for (const each of processes) each.kill('SIGKILL')
  await Promise.all(processes.map(({ ended }) => ended))
  await parts.close()
})

const start = async (more: Record<string, string> = {}) => {
  const ingress = await spawnIngress({ ...parts.environment, ...more })
  processes.push(ingress)
  return ingress
}
const postTo = (ingress: IngressProcess, id: string) => {
  const body = JSON.stringify(eventOf('processor', id))
  return post(`${ingress.base}/v1/webhooks/processor/con_processor`, body, credentialOf('processor', body))
}
const idOf = ({ headers }: IncomingMessage) => headers.event_id!

describe('the process of ingress', () => {
  test.each(INGRESS_CRASH_POINTS)('killed at %s loses no event that it acknowledged', async point => {
    const [first, second] = [`evt_first_${point}`, `evt_second_${point}`]
    const doomed = await start({ CRASH_AT: point, CRASH_AFTER: '1' })
    expect(await postTo(doomed, first)).toMatchObject({ status: 200 })
    await expect(postTo(doomed, second)).rejects.toMatchObject({ code: 'ECONNRESET' })
    expect(await doomed.ended).toBe('SIGKILL')

    // The provider got no answer, so it posts the event again.
    const next = await start()
    expect(await postTo(next, second)).toMatchObject({ status: 200 })
    const copies = point === 'ingress.after-send' ? 2 : 1
    const messages = await parts.messagesOf('processor', all => {
      return all.some(each => idOf(each) === first) && all.filter(each => idOf(each) === second).length >= copies
    })
    const again = messages.filter(each => idOf(each) === second)
    expect(again).toHaveLength(copies)
    expect(new Set(again.map(({ headers }) => headers['x-message-id'])).size).toBe(1)
    next.kill('SIGTERM')
    expect(await next.ended).toBe(0)
  })

  test('stopped under load has stored every event that it acknowledged, and ends with 0', async () => {
    const ingress = await start()
    const ids = Array.from({ length: 400 }, (_, at) => `evt_stop_${at}`)
    const acknowledged: string[] = []
    const posting = ids.map(async id => {
      const status = await postTo(ingress, id).then(
        answer => answer.status,
        () => 'not answered',
      )
      if (status === 200 && acknowledged.push(id) === 20) ingress.kill('SIGTERM')
    })
    await Promise.all(posting)
    expect(await ingress.ended).toBe(0)
    expect(acknowledged.length).toBeGreaterThanOrEqual(20)
    const messages = await parts.messagesOf('processor', all => {
      const stored = new Set(all.map(idOf))
      return acknowledged.every(id => stored.has(id))
    })
    expect(messages.length).toBeGreaterThanOrEqual(acknowledged.length)
  })
})
