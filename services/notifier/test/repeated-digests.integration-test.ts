/** The repeat of a digest that failed, on real Kafka and MongoDB, with mails over SMTP. */

import { createSmtpMailer } from '@backstop/channels/deliver'
import { alert, emailChannel, startScriptedSmtpServer } from '@backstop/channels/test'
import { Secret } from '@backstop/kit/config'
import { until } from '@backstop/kit/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { DEFAULT_STORM_SETTINGS } from '../src/storm/rules/storm-settings.ts'
import { startRealNotifier } from './real-notifier.ts'

let isBroken = true
let server: Awaited<ReturnType<typeof startScriptedSmtpServer>>
let mailer: ReturnType<typeof createSmtpMailer>
let notifier: Awaited<ReturnType<typeof startRealNotifier>>

beforeAll(async () => {
  // The server takes the mail and then reports an error, like a server that crashes after it has queued the mail.
  server = await startScriptedSmtpServer({
    answers: { content: () => (isBroken ? '451 4.3.0 try later' : '250 queued') },
  })
  mailer = createSmtpMailer({ url: new Secret(server.url), from: 'alerts@example.com', requireTls: false })
  notifier = await startRealNotifier({ mailer, storms: { ...DEFAULT_STORM_SETTINGS, from: 1_000_000 } })
})
afterAll(async () => {
  await notifier?.stop()
  await mailer?.stop()
  await server?.stop()
})

const fieldOf = (name: string, mail: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(mail)?.[1]
/** The incidents that the mail reports, in their order. Long lines of a mail are broken by "=". */
const idsIn = (mail: string) => [...new Set(mail.replaceAll('=\n', '').match(/inc_alr_\d+_\d+/g))]

let runs = 0

test('each alert of failed digests is in mails of one Message-ID, also when the digests are released in pages', async () => {
  const run = ++runs
  const [channel_id, project_id] = [`chn_repeated_${run}`, `prj_repeated_${run}`]
  isBroken = true
  server.mails.length = 0
  const publish = (from: number, count: number) => {
    const ids = Array.from({ length: count }, (_, index) => `alr_${run}_${from + index}`)
    return notifier.publish(...ids.map(id => alert({ id, project: project_id, at: new Date().toISOString() })))
  }
  const deliveries = () => notifier.deliveries.find({ channel_id }).toArray()
  await notifier.put(emailChannel(channel_id, ['a@example.com'], { project_id }))
  await publish(0, 240)
  const hasFailedTwice = async () => {
    const found = await deliveries()
    return found.length === 240 && found.every(one => one.state === 'retrying' && one.attempts.length >= 2)
  }
  await until('each delivery failed twice', hasFailedTwice, { timeoutMs: 60_000 })
  const failed = server.mails.length
  isBroken = false
  await publish(1_000, 1)
  const areDelivered = async () => (await deliveries()).filter(one => one.state === 'delivered').length === 241
  await until('all are delivered', areDelivered, { timeoutMs: 30_000 })

  const released = server.mails.slice(failed)
  expect(Math.max(...released.map(mail => idsIn(mail).length))).toBe(100)
  for (let index = 0; index < 240; index++) {
    const about = server.mails.filter(mail => idsIn(mail).includes(`inc_alr_${run}_${index}`))
    expect(new Set(about.map(mail => fieldOf('Message-ID', mail))).size, `alert ${index}`).toBe(1)
    expect(new Set(about.map(mail => idsIn(mail).join())).size, `alert ${index}`).toBe(1)
    expect(released.filter(mail => about.includes(mail))).toHaveLength(1)
  }
})
