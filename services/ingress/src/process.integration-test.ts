import type { IncomingMessage } from '@backstop/kit/bus'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { post } from '../test/http-client.ts'
import { credentialOf, eventOf } from '../test/memory-ingress.ts'
import { type IngressProcess, type ProvisionedStack, provisionStack, spawnIngress } from '../test/real-ingress.ts'

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
  test('killed under load has stored every event that it acknowledged, and the repeat of another has the same message id', async () => {
    const doomed = await start()
    const ids = Array.from({ length: 400 }, (_, at) => `evt_kill_${at}`)
    const acknowledged = new Set<string>()
    const posting = ids.map(async id => {
      const status = await postTo(doomed, id).then(
        answer => answer.status,
        () => 'not answered',
      )
      if (status === 200 && acknowledged.add(id).size === 20) doomed.kill('SIGKILL')
    })
    await Promise.all(posting)
    expect(await doomed.ended).toBe('SIGKILL')

    // The provider got no answer about the others, so it posts them again.
    const others = ids.filter(id => !acknowledged.has(id))
    expect(others.length).toBeGreaterThan(0)
    const next = await start()
    for (const id of others) expect(await postTo(next, id)).toMatchObject({ status: 200 })
    const messages = await parts.messagesOf('processor', all => {
      const stored = new Set(all.map(idOf))
      return ids.every(id => stored.has(id))
    })
    const messageIds = new Map<string, Set<string | undefined>>()
    for (const message of messages) {
      const known = messageIds.get(idOf(message)) ?? new Set()
      messageIds.set(idOf(message), known.add(message.headers['x-message-id']))
    }
    expect([...messageIds].filter(([, all]) => all.size > 1)).toEqual([])
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
