/**
 * An operator replays through the API: deliveries that were missed while an endpoint was down, and messages that could not be decided.
 */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { AlertChannel, ChannelTestResult } from '@backstop/channels'
import type { DeadLetter, Delivery, InboxEntry, Incident, Replay } from '@backstop/contracts'
import { nodeEnvironment, until } from '@backstop/kit/test'
import { checkStandardWebhook } from '@backstop/simulator'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Product } from '../../scripts/start/product.ts'
import { isOpened } from '../setup/customer.ts'
import { openInspector, type ProductInspector } from '../setup/product-inspector.ts'
import { openShop, type Shop } from '../setup/shop.ts'
import { quickProduct } from './shared-products.ts'

/** The deadline of every wait for a decision. It is long enough for a busy machine. */
const WITHIN_MS = 60_000

describe('control of deliveries', () => {
  let product: Product
  let inspector: ProductInspector
  const shops: Shop[] = []

  beforeAll(async () => {
    product = quickProduct.get()
    inspector = await openInspector(product)
  })

  afterAll(async () => {
    await Promise.all(shops.map(shop => shop.stop()))
    await inspector?.stop()
  })

  async function openTestShop() {
    const shop = await openShop(product)
    shops.push(shop)
    const { projectId, api } = shop
    const list = <T>(path: string) => api.get<{ data: T[] }>(`${path}project_id=${projectId}`).then(({ data }) => data)
    const [channel] = await list<AlertChannel>('/v1/alert-channels?')
    const path = `/v1/alert-channels/${channel?.channel_id}`
    return {
      ...shop,
      path,
      channelId: channel?.channel_id as string,
      readChannel: () => api.get<AlertChannel>(path),
      dead: () => list<Delivery>('/v1/deliveries?state=dead&'),
      allIncidents: () => list<Incident>('/v1/incidents?'),
      /** Makes an unexplained refund. */
      refund: () => shop.processor.refund({ payment_intent: shop.pay().paymentIntent.id, amount: 700 }),
    }
  }

  const answering = (status: number) => () => ({ kind: 'answer' as const, status, body: `answered ${status}` })

  describe.concurrent('an endpoint that was down', () => {
    test('is shown as disabled, gets another URL and secret, is enabled, and gets the missed deliveries under the same ids', async () => {
      const { api, receiver, path, channelId, readChannel, dead, allIncidents, refund } = await openTestShop()
      receiver.answerWith(answering(410))
      refund()
      const disabled = await until('the channel to be disabled', async () => {
        const channel = await readChannel()
        return channel.health.state === 'disabled' ? channel : undefined
      })
      expect(disabled).toMatchObject({ enabled: false, health: { success_rate: 0 } })
      expect(disabled.health.disabled_reason).toMatch(/410/)
      // The alert about the disabled channel may be dead, too, without an attempt.
      const missed = await until('the dead delivery', async () =>
        (await dead()).find(({ attempts }) => attempts.length > 0),
      )
      expect(missed).toMatchObject({ attempts: [{ status: 410, response: 'answered 410' }] })
      await expect(api.post(`/v1/deliveries/${missed.delivery_id}/retry`, {})).rejects.toMatchObject({ status: 409 })
      const incident = await until('the incident of the channel', async () =>
        (await allIncidents()).find(({ code }) => code === 'CHANNEL_DISABLED'),
      )

      receiver.answerWith(answering(200))
      const { secret } = await api.post<{ secret: string }>(`${path}/rotate-secret`, {})
      const url = `${receiver.url}/moved`
      const config = { url, headers: { 'X-Route': 'night' } }
      const enabled = await api.patch<AlertChannel>(path, { enabled: true, config })
      expect(enabled).toMatchObject({ enabled: true, health: { state: 'healthy', disabled_at: null } })
      const test = await api.post<ChannelTestResult>(`${path}/test`, {})
      expect(test).toMatchObject({ delivered: true, status: 200, response: 'answered 200' })

      const { length: failed } = await dead()
      const from = new Date(Date.now() - 600_000).toISOString()
      const to = new Date(Date.now() + 1_000).toISOString()
      const asked = await api.post<Replay>('/v1/replays', { channel_id: channelId, from, to })
      expect(asked.state).toBe('requested')
      const done = await until('the replay to be done', async () => {
        const replay = await api.get<Replay>(`/v1/replays/${asked.replay_id}`)
        return replay.state === 'done' ? replay : undefined
      })
      expect(done).toMatchObject({ total: failed, requeued: failed })
      const isMissed = (one: { webhookId: string | undefined }) => one.webhookId === missed.delivery_id
      const arrived = await receiver.waitFor('what was missed', one => isMissed(one) && one.answered === 200, 20_000)
      expect(arrived).toMatchObject({ path: '/moved', headers: { 'x-route': 'night' } })
      // While both secrets are valid, a receiver can verify the signature with the old or the new secret.
      expect(arrived.standardWebhook).toBe('valid')
      const header = (name: string) => arrived.headers[name]
      expect(checkStandardWebhook(arrived.rawBody, header, secret, Date.now() / 1_000)).toBe('valid')
      const delivery = await until('the record of it', async () => {
        const now = await api.get<Delivery>(`/v1/deliveries/${missed.delivery_id}`)
        return now.state === 'delivered' ? now : undefined
      })
      expect(delivery.attempts.map(({ status }) => status)).toEqual([410, 200])
      await until('the incident of the channel to be resolved', async () => {
        const now = await api.get<Incident>(`/v1/incidents/${incident.incident_id}`)
        return now.state === 'resolved'
      })
    })

    test('gets a delivery at once when a person retries it', async () => {
      const { api, receiver, channelId, refund } = await openTestShop()
      receiver.answerWith(answering(500))
      refund()
      const waiting = await until('the second attempt to fail', async () => {
        const { data } = await api.get<{ data: Delivery[] }>(`/v1/deliveries?channel_id=${channelId}`)
        return data.find(({ attempts }) => attempts.length === 2)
      })
      // The third attempt would come after a minute.
      expect(Date.parse(waiting.next_attempt_at ?? '') - Date.now()).toBeGreaterThan(30_000)
      receiver.answerWith(answering(200))
      await api.post(`/v1/deliveries/${waiting.delivery_id}/retry`, {})
      const isIt = (one: { webhookId: string | undefined }) => one.webhookId === waiting.delivery_id
      await receiver.waitFor('the third attempt', one => isIt(one) && one.answered === 200, 15_000)
    })
  })

  interface CaughtMail {
    readonly subject: string
    readonly text: string
    readonly to: readonly { readonly address: string }[]
  }

  /** Gives a shop a second channel, by mail. @returns a function that waits for a mail there whose subject matches */
  async function addMailChannel({ api, projectId }: Pick<Shop, 'api' | 'projectId'>) {
    const to = `${projectId.toLowerCase().replaceAll('_', '-')}@ops.example`
    const config = { kind: 'email', to: [to] }
    await api.post('/v1/alert-channels', {
      project_id: projectId,
      name: 'On call',
      events: ['incident.opened'],
      config,
    })
    return (subject: RegExp) =>
      until(
        `a mail about ${subject}`,
        async () => {
          const all = (await (await fetch(`${product.urls.mail}/api/email`)).json()) as CaughtMail[]
          return all.find(mail => mail.to.some(({ address }) => address === to) && subject.test(mail.subject))
        },
        { timeoutMs: WITHIN_MS },
      )
  }

  describe.concurrent('people are alerted by another channel', () => {
    test('that a channel has delivered nothing for 15 minutes, with its name, since when, and why', async () => {
      const shop = await openTestShop()
      const mailAbout = await addMailChannel(shop)
      shop.receiver.answerWith(answering(500))
      shop.refund()
      const health = inspector.database.collection<{ _id: string; undelivered_since?: Date | null }>('channel_health')
      await until('the first failure', async () => (await health.findOne({ _id: shop.channelId }))?.undelivered_since)
      // Quarter of an hour passes.
      const since = new Date(Date.now() - 16 * 60_000)
      await health.updateOne({ _id: shop.channelId }, { $set: { undelivered_since: since } })
      const { text } = await mailAbout(/delivers nothing/)
      const sinceText = `${since.toISOString().slice(0, 19).replace('T', ' ')} UTC`
      expect(text).toContain(
        `The alert channel "Receiver" delivers nothing: No alert has arrived there since ${sinceText}. The newest failure: The receiver answered 500`,
      )
      const incidents = await shop.allIncidents()
      expect(incidents.filter(({ code }) => code === 'CHANNEL_FAILING')).toMatchObject([
        { state: 'open', channel_id: shop.channelId },
      ])
    })

    test('that somebody created an admin key with access to the database, and who', async () => {
      const shop = await openTestShop()
      const mailAbout = await addMailChannel(shop)
      const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
      const env = { ...nodeEnvironment(), MONGO_URL: product.urls.mongo, MONGO_DB: product.database }
      const { stdout } = await promisify(execFile)(process.execPath, [main, 'keys', 'recover', '--operator', 'Ada'], {
        env,
      })
      expect(stdout).toMatch(/^bsk_/)
      const { text } = await mailAbout(/key/i)
      expect(text).toMatch(/^Ada \(\S+\) created an admin key for all projects with access to the database\.$/m)
      expect(text).not.toContain(stdout.trim())
    })
  })

  describe('a message that cannot be decided', () => {
    /** Makes the stored case of a shop's only payment unreadable. @returns a function that restores it */
    async function damageCase(projectId: string): Promise<() => Promise<void>> {
      const cases = inspector.database.collection<{ project_id: string; current: [{ state: string }] }>('subjects')
      const setState = async (state: string) => {
        const { matchedCount } = await cases.updateOne(
          { project_id: projectId },
          { $set: { 'current.0.state': state } },
        )
        expect(matchedCount).toBe(1)
      }
      const [before, ...others] = await cases.find({ project_id: projectId }).toArray()
      if (before === undefined || others.length > 0) throw new Error('The shop has exactly one case')
      await setState('damaged')
      return () => setState(before.current[0].state)
    }

    test('is listed with its repair, and is decided by it after the cause is gone', async () => {
      const { projectId, api, processor, pay, report, action, alertAbout, alertsAbout } = await openTestShop()
      const deadLetters = async (kind: DeadLetter['kind']) => {
        const path = `/v1/dead-letters?project_id=${projectId}&kind=${kind}`
        return (await api.get<{ data: DeadLetter[] }>(path)).data
      }
      /** The dead notification that names the refund. The processor also reports the new total of the payment. */
      const findRefundCreated = async () => {
        const letters = await deadLetters('notification')
        if (letters.length < 2) return undefined
        const entries = await Promise.all(letters.map(({ resource }) => api.get<InboxEntry>(resource ?? '')))
        return letters[entries.findIndex(({ event_type }) => event_type === 'refund.created')]
      }
      const wait = { timeoutMs: WITHIN_MS, everyMs: 100 }
      const payment = pay().paymentIntent.id
      const first = processor.refund({ payment_intent: payment, amount: 700 })
      await alertAbout(first.id, WITHIN_MS)
      await inspector.untilIdle(WITHIN_MS)

      const restoreCase = await damageCase(projectId)
      const said = { subject: payment, amount: 700, currency: 'eur', state: 'completed', provider_ref: first.id }
      const { operation_id } = await report(said)
      const second = processor.refund({ payment_intent: payment, amount: 800 })
      const operation = await until('the dead operation', async () => (await deadLetters('operation'))[0], wait)
      const notification = await until('both dead notifications', findRefundCreated, wait)
      expect(operation).toMatchObject({
        topic: 'operations',
        reason_code: 'internal',
        resource: `/v1/operations/${operation_id}`,
        repair: { method: 'POST', path: `/v1/dead-letters/${operation.dead_letter_id}/replay` },
      })
      expect(notification).toMatchObject({
        topic: 'inbound.processor',
        repair: { method: 'POST', path: `${notification.resource}/replay` },
      })
      expect(await action(first.id)).toMatchObject({ verdict: 'unexplained' })
      expect(await action(second.id)).toBeUndefined()

      await restoreCase()
      await api.post(operation.repair?.path ?? '', {})
      await until('the explained refund', async () => (await action(first.id))?.verdict === 'explained', wait)
      await until('no dead operation', async () => (await deadLetters('operation')).length === 0, wait)
      await api.post(notification.repair?.path ?? '', {})
      await alertAbout(second.id, WITHIN_MS)
      expect(await api.post('/v1/dead-letters/replay', { project_id: projectId })).toMatchObject({ blocked: [] })
      await until('no dead notification', async () => (await deadLetters('notification')).length === 0, wait)
      expect(alertsAbout(first.id).filter(isOpened)).toHaveLength(1)
    })
  })
})
