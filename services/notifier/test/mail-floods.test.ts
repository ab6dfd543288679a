/** Digests by mail, on the whole notifier in memory: which address gets which mail, and how often. */

import type { AttemptAnswer } from '@backstop/channels'
import type { Mail, Mailer } from '@backstop/channels/deliver'
import { alert, emailChannel, PROJECT } from '@backstop/channels/test'
import { describe, expect, test } from 'vitest'
import { suppressionId } from '../src/suppressed-addresses/rules/suppression.ts'
import { createMemoryNotifier } from './memory-notifier.ts'

type SmtpAnswer = Extract<AttemptAnswer, { kind: 'smtp' }>
const ACCEPTED: SmtpAnswer = { kind: 'smtp', code: 250, stage: 'sent', text: '250 ok' }
const BUSY: SmtpAnswer = { kind: 'smtp', code: 452, stage: 'recipient', text: '452 4.2.2 mailbox full' }
const CONTENT_REFUSED: SmtpAnswer = { kind: 'smtp', code: 554, stage: 'content', text: '554 5.6.0 not this one' }

const IDS = Array.from({ length: 60 }, (_, index) => `alr_${index}`)

/** Publishes sixty alerts at once to a mail channel. */
async function flood(to: string[], answer: (mail: Mail) => SmtpAnswer = () => ACCEPTED, suppressed: string[] = []) {
  const mails: Mail[] = []
  const mailer: Mailer = {
    async send(mail) {
      mails.push(mail)
      return answer(mail)
    },
    async stop() {},
  }
  const notifier = createMemoryNotifier({ mailer })
  notifier.collections.channels.set('chn_mail', emailChannel('chn_mail', to))
  for (const address of suppressed) {
    const at = new Date(notifier.clock.now())
    const _id = suppressionId({ projectId: PROJECT, address })
    const facts = { reason: 'unsubscribed', detail: null, suppressed_at: at, updated_at: at } as const
    notifier.collections.suppressions.set(_id, { _id, project_id: PROJECT, address, soft_bounces: [], ...facts })
  }
  await notifier.start()
  await notifier.clock.advance(100)
  await notifier.publish(...IDS.map(id => alert({ id })))
  await notifier.clock.advance(60_000)
  const deliveries = () => IDS.map(id => notifier.deliveryOf(id, 'chn_mail'))
  const states = () => [...new Set(deliveries().map(one => one?.state))]
  return { notifier, mails, deliveries, states }
}

const reported = (mails: readonly Mail[]) => mails.flatMap(({ text }) => [...new Set(text.match(/inc_alr_\d+/g))])

describe('a flood of alerts to a mail channel', () => {
  test('arrives as few mails that name all of it, and each delivery names its digest', async () => {
    const { mails, states, deliveries } = await flood(['a@example.com'])
    expect(states()).toEqual(['delivered'])
    expect(mails.length).toBeLessThan(10)
    expect(reported(mails).toSorted()).toEqual(IDS.map(id => `inc_${id}`).toSorted())
    const digests = new Set(deliveries().flatMap(one => one?.told_by ?? []))
    expect(digests).toEqual(new Set(mails.filter(mail => digests.has(mail.messageId)).map(mail => mail.messageId)))
  })

  test('reaches no suppressed address, and every other one with its own unsubscribe link', async () => {
    const { mails, states } = await flood(['a@example.com', 'left@example.com', 'b@example.com'], undefined, [
      'left@example.com',
    ])
    expect(states()).toEqual(['delivered'])
    expect(new Set(mails.map(mail => mail.to))).toEqual(new Set(['a@example.com', 'b@example.com']))
    expect(new Set(mails.map(mail => mail.unsubscribeUrl)).size).toBe(2)
    for (const to of ['a@example.com', 'b@example.com']) {
      const own = mails.filter(mail => mail.to === to)
      expect(reported(own).toSorted()).toEqual(IDS.map(id => `inc_${id}`).toSorted())
    }
  })

  test('goes to a mailbox that was full as the same digest again, and to the others once', async () => {
    let isFull = true
    const { notifier, mails, states } = await flood(['a@example.com', 'full@example.com'], mail =>
      mail.to === 'full@example.com' && isFull ? BUSY : ACCEPTED,
    )
    expect(states()).toEqual(['retrying'])
    isFull = false
    const before = mails.filter(mail => mail.to === 'full@example.com')
    await notifier.clock.advance(2 * 3_600_000)
    expect(states()).toEqual(['delivered'])
    const toOther = mails.filter(mail => mail.to === 'a@example.com')
    expect(reported(toOther)).toHaveLength(IDS.length)
    const after = mails.filter(mail => mail.to === 'full@example.com').slice(before.length)
    expect(reported(after)).toHaveLength(IDS.length)
    for (const mail of after) expect(before).toContainEqual(mail)
  })

  test('whose digest is refused for its content goes out alert by alert', async () => {
    const { notifier, mails, states } = await flood(['a@example.com'], mail =>
      reported([mail]).length > 1 ? CONTENT_REFUSED : ACCEPTED,
    )
    await notifier.clock.advance(3_600_000)
    expect(states()).toEqual(['delivered'])
    expect(reported(mails.filter(mail => reported([mail]).length === 1))).toHaveLength(IDS.length)
  })

  test('ends without a mail if every address is suppressed', async () => {
    const { mails, states } = await flood(['left@example.com'], undefined, ['left@example.com'])
    expect(mails).toEqual([])
    expect(states()).toEqual(['dead'])
  })
})
