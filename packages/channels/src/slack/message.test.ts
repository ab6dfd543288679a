import { describe, expect, test } from 'vitest'
import { sampleAction, settingWith } from '../../test/samples.ts'
import { SAMPLE_ALERTS } from '../alert-text/sample-alerts.ts'
import { escapeMrkdwn, type SlackMessage, slackMessage, slackWithoutBlocks, truncate } from './message.ts'

const CONSOLE = 'https://console.example.com'
const hostile = '<!channel> & <@U123> <https://evil.example|your bank>'

describe('a Slack message', () => {
  test('has a header, the summary, facts, what to do, its buttons and a reference', () => {
    const message = slackMessage(sampleAction(), settingWith(CONSOLE))
    expect(message.blocks?.map(block => block.type)).toEqual([
      'header',
      'section',
      'section',
      'section',
      'actions',
      'context',
    ])
    expect(message.text).toContain('Unexplained refund of EUR 1,249.90')
    const buttons = (message.blocks ?? []).flatMap(block => (block.type === 'actions' ? block.elements : []))
    expect(buttons.map(({ text, url }) => [text.text, url])).toEqual([
      ['Open in the console', `${CONSOLE}/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b`],
      ["Provider's page", 'https://dashboard.stripe.com/payments/pi_3QK5vLAbCdEfGhIj0aBcDeFg'],
      ['Acknowledge', `${CONSOLE}/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b?do=acknowledge`],
      ['This was us', `${CONSOLE}/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b?do=ours`],
      ['Silence 2 hours', `${CONSOLE}/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b?do=silence`],
    ])
  })

  test('says which other channels get the alert, as plain text', () => {
    const footerWith = (...alsoSentTo: string[]) =>
      slackMessage(sampleAction(), { ...settingWith(), alsoSentTo }).blocks?.at(-1)
    const footer = (text: string) => ({ type: 'context', elements: [{ type: 'plain_text', text, emoji: false }] })
    const start = 'Backstop · inc_6g2p0n4r8t1w5y9b'
    expect(footerWith()).toEqual(footer(start))
    expect(footerWith('Pager')).toEqual(footer(`${start} · Also sent to Pager`))
    expect(footerWith('Pager', '<!here>\u202e', 'Third')).toEqual(
      footer(`${start} · Also sent to Pager, <!here><U+202E> and more`),
    )
  })

  test('has no button without a console and a page of the provider, and none for a test', () => {
    const unlinked = sampleAction({ links: { provider: null, console: null } })
    expect(JSON.stringify(slackMessage(unlinked, settingWith()))).not.toContain('"actions"')
    expect(JSON.stringify(slackMessage(SAMPLE_ALERTS['channel.test'](), settingWith(CONSOLE)))).not.toContain(
      '"actions"',
    )
  })

  test('mentions nobody and links nowhere, whatever its data', () => {
    const message = slackMessage(hostileAlert(hostile), settingWith())
    // Slack interprets the fallback text and the mrkdwn texts, and shows plain text unchanged.
    const interpreted = [
      message.text,
      ...mrkdwnOf(message),
      slackWithoutBlocks(hostileAlert(hostile), settingWith()).text,
    ]
    for (const text of interpreted) expect(text).not.toMatch(/<[!@#]|<https?:/)
  })

  test('lets Slack make no links of addresses and names in its texts', () => {
    const { blocks = [] } = slackMessage(hostileAlert('evil.example #general'), settingWith())
    const texts = JSON.stringify(blocks).match(/\{"type":"mrkdwn"[^}]*\}/g) ?? []
    expect(texts.length).toBeGreaterThan(2)
    for (const text of texts) expect(JSON.parse(text)).toMatchObject({ verbatim: true })
  })

  test('stays within Slack’s limits, whatever its data', () => {
    const long = '😀&<'.repeat(3_000)
    const message = slackMessage(hostileAlert(long), settingWith(CONSOLE))
    expect(message.text.length).toBeLessThanOrEqual(4_000)
    expect((message.blocks ?? []).length).toBeLessThanOrEqual(50)
    for (const block of message.blocks ?? []) {
      if (block.type === 'section' && 'fields' in block) {
        expect(block.fields.length).toBeLessThanOrEqual(10)
        for (const { text } of block.fields) expect(text.length).toBeLessThanOrEqual(2_000)
      } else if (block.type === 'section') expect(block.text.text.length).toBeLessThanOrEqual(3_000)
      else if (block.type === 'context')
        for (const { text } of block.elements) expect(text.length).toBeLessThanOrEqual(2_000)
    }
    expect(slackWithoutBlocks(hostileAlert(long), settingWith(CONSOLE)).text.length).toBeLessThanOrEqual(40_000)
    expect(slackMessage(hostileAlert(long), settingWith()).text).not.toMatch(/&[a-z]*…$/)
  })

  test('as text alone has every fact and link', () => {
    const { text } = slackWithoutBlocks(sampleAction(), settingWith(CONSOLE))
    for (const part of [
      'Payment: 2014-7788',
      'If a stranger made this, revoke',
      `${CONSOLE}/p/prj_sample/incidents/`,
      'Reference: inc_',
    ])
      expect(text).toContain(part)
  })
})

function hostileAlert(text: string) {
  return sampleAction({
    subject: text,
    origin: { channel: 'dashboard', key_name: text, user: text, request_id: text, idempotency_key: text },
    customer: { id: text, name: text, email: text },
    payment: { number: text, plan: text, refund_reason: text, destination: text },
  })
}

test.each([
  { name: 'a text that fits', text: 'abc', limit: 3, cutTo: 'abc' },
  { name: 'a text that is too long', text: 'abcd', limit: 3, cutTo: 'ab…' },
  { name: 'a character of two units', text: 'a😀b', limit: 3, cutTo: 'a…' },
  { name: 'an entity', text: `a${escapeMrkdwn('<<')}`, limit: 7, cutTo: 'a&lt;…' },
])('cuts $name without dividing a character or an entity', ({ text, limit, cutTo }) => {
  expect(truncate(text, limit)).toBe(cutTo)
})

function mrkdwnOf({ blocks = [] }: SlackMessage): string[] {
  const texts = blocks.flatMap(block => {
    if (block.type !== 'section') return []
    return 'fields' in block ? block.fields : [block.text]
  })
  return texts.filter(({ type }) => type === 'mrkdwn').map(({ text }) => text)
}
