/** The repeat of a digest that failed, on the whole notifier in memory. */

import type { MessageAnswer } from '@backstop/channels'
import type { Mail, Mailer } from '@backstop/channels/deliver'
import { alert, emailChannel, incidentAlerts } from '@backstop/channels/test'
import { sleep } from '@backstop/kit/clock'
import { describe, expect, test } from 'vitest'
import { createMemoryNotifier } from './memory-notifier.ts'

const MINUTE_MS = 60_000
const ACCEPTED: MessageAnswer = { kind: 'smtp', code: 250, stage: 'sent', text: '250 ok' }
const NO_ANSWER: MessageAnswer = { kind: 'no_answer', reason: 'deadline', message: 'No answer in time' }

const idsIn = ({ text }: Mail) => new Set(text.match(/inc_\w+/g))

/** A mail channel whose server takes every mail. Its answers are lost until `repair` is called. */
async function startWithLostAnswers({ lostAfterMs }: { lostAfterMs: number }) {
  const mails: Mail[] = []
  let isBroken = true
  const mailer: Mailer = {
    async send(mail) {
      mails.push(mail)
      if (!isBroken) return ACCEPTED
      await sleep(notifier.clock, lostAfterMs)
      return NO_ANSWER
    },
    async stop() {},
  }
  const notifier = createMemoryNotifier({ mailer })
  const events = ['incident.opened' as const, 'incident.resolved' as const]
  notifier.collections.channels.set('chn_mail', emailChannel('chn_mail', ['a@example.com'], { events }))
  await notifier.start({ maxQueuedPerChannel: 1_000 })
  await notifier.clock.advance(100)
  return {
    notifier,
    mails,
    repair() {
      isBroken = false
    },
    publish: (...names: string[]) => notifier.publish(...names.map(name => alert({ id: `alr_${name}` }))),
    states: () => new Set([...notifier.collections.deliveries.values()].map(({ state }) => state)),
    digestsOf: (count: number) => mails.filter(mail => idsIn(mail).size === count),
  }
}

const names = (count: number) => Array.from({ length: count }, (_, index) => `${index}`)

describe('a digest of a hundred alerts without an answer', () => {
  test.each([
    { lostAfterMs: 0, server: 'that closed the connection' },
    { lostAfterMs: 20_000, server: 'that did not answer in time' },
  ])('is repeated whole, as the same mail, when a later alert reaches the server $server', async ({ lostAfterMs }) => {
    const { notifier, mails, repair, publish, states, digestsOf } = await startWithLostAnswers({ lostAfterMs })
    // Ten more, because the channel is paused after a few failed digests, and a release needs a pause.
    await publish(...names(110))
    await notifier.clock.advance(15 * MINUTE_MS)
    expect(states()).toEqual(new Set(['retrying']))
    const failed = mails.length
    repair()
    await publish('later')
    await notifier.clock.advance(MINUTE_MS)
    expect(states()).toEqual(new Set(['delivered']))
    expect(mails.slice(failed).map(mail => idsIn(mail).size)).toEqual([1, 100, 10])
    // Compared as sets, because the difference of two long mails is unreadable.
    for (const count of [100, 10]) expect(new Set(digestsOf(count).map(mail => JSON.stringify(mail))).size).toBe(1)
    await notifier.clock.advance(120 * MINUTE_MS)
    expect(mails).toHaveLength(failed + 3)
  })

  test('is repeated under another id without the alert that a later message replaced', async () => {
    const { notifier, repair, publish, states, digestsOf } = await startWithLostAnswers({ lostAfterMs: 0 })
    const { opened, resolved } = incidentAlerts('inc_closed')
    await notifier.publish(opened, ...names(109).map(name => alert({ id: `alr_${name}` })))
    await notifier.clock.advance(15 * MINUTE_MS)
    repair()
    await notifier.publish(resolved)
    await publish('later')
    await notifier.clock.advance(MINUTE_MS)
    expect(states()).toEqual(new Set(['delivered', 'superseded']))
    const [first] = digestsOf(100)
    const [rest, ...more] = digestsOf(99)
    expect(more).toEqual([])
    expect(rest?.messageId).not.toBe(first?.messageId)
  })
})
