import type { SuppressionReason } from '@backstop/contracts'
import { readUnsubscribeTarget, UNSUBSCRIBE_PURPOSE } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { emailChannel as channelOf, secretBox, testRequest } from '../../test/fixtures.ts'
import type { AttemptAnswer } from '../answer/answer.ts'
import type { ChannelPorts } from '../channel.ts'
import type { Mail } from '../mailer.ts'
import { emailChannel } from './deliver.ts'

const accepted: AttemptAnswer = { kind: 'smtp', code: 250, stage: 'sent', text: '250 ok' }

async function deliver(
  to: string[],
  { suppressed = {}, apiPublicUrl = 'https://api.example.com' as string | null, branding = {} } = {},
) {
  const mails: Mail[] = []
  const mailer = {
    async send(mail: Mail) {
      mails.push(mail)
      return accepted
    },
  }
  const ports = {
    mailer,
    secretBox,
    publicUrl: null,
    brandName: 'Backstop',
    apiPublicUrl,
    clock: { now: () => 0 },
  } as unknown as ChannelPorts
  const project = { branding, timeZone: 'UTC', suppressed: new Map(Object.entries<SuppressionReason>(suppressed)) }
  const channel = channelOf('chn_1', to)
  const answer = await emailChannel.deliver(channel, testRequest('chn_1'), ports, project)
  return { mails, answer }
}

describe('a delivery by mail', () => {
  test('sends each address its own mail, with a link that unsubscribes only that address', async () => {
    const { mails } = await deliver(['a@example.com', 'B@example.com'])
    expect(mails.map(mail => mail.to)).toEqual(['a@example.com', 'B@example.com'])
    const subjects = mails.map(({ unsubscribeUrl, text, html }) => {
      expect(text).toContain(unsubscribeUrl)
      expect(html).toContain(unsubscribeUrl)
      const token = unsubscribeUrl?.replace('https://api.example.com/v1/unsubscribe/', '') ?? ''
      return readUnsubscribeTarget(secretBox.verify(UNSUBSCRIBE_PURPOSE, token) ?? '', new Date())
    })
    expect(subjects).toEqual([
      { projectId: 'prj_test', address: 'a@example.com' },
      { projectId: 'prj_test', address: 'b@example.com' },
    ])
  })

  test('is the same at every attempt', async () => {
    expect((await deliver(['a@example.com'])).mails).toEqual((await deliver(['a@example.com'])).mails)
  })

  test('has no unsubscribe link without API_PUBLIC_URL', async () => {
    const [mail] = (await deliver(['a@example.com'], { apiPublicUrl: null })).mails
    expect(mail?.unsubscribeUrl).toBeNull()
    expect(`${mail?.text}${mail?.html}`).not.toMatch(/unsubscribe/i)
  })

  test("has the project's branding", async () => {
    const [mail] = (await deliver(['a@example.com'], { branding: { name: 'Acme' } })).mails
    expect(mail?.subject).toBe('[Acme] Test of this alert channel')
  })

  test('skips suppressed addresses in any spelling, and counts them', async () => {
    const { mails, answer } = await deliver(['A@example.com', 'b@example.com'], {
      suppressed: { 'a@example.com': 'unsubscribed' },
    })
    expect(mails.map(mail => mail.to)).toEqual(['b@example.com'])
    expect(answer).toMatchObject({
      decisive: accepted,
      tally: { accepted: 1, pending: 0, suppressed: ['unsubscribed'] },
    })
  })

  test('sends nothing if all addresses are suppressed, and gives the reasons', async () => {
    const { mails, answer } = await deliver(['a@example.com'], { suppressed: { 'a@example.com': 'hard_bounce' } })
    expect(mails).toEqual([])
    const message = expect.stringContaining('1 address is suppressed (1 bounced permanently)')
    expect(answer).toMatchObject({ decisive: { kind: 'not_sendable', reason: 'everybody_suppressed', message } })
  })
})
