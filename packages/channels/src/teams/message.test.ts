import type { Alert } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { refusalOf } from '../../test/official-shapes.ts'
import { sampleAction, sampleChannelIncident, sampleIncident, settingWith } from '../../test/samples.ts'
import { SAMPLE_ALERTS } from '../alert-text/sample-alerts.ts'
import { teamsMessage } from './message.ts'

const CONSOLE = 'https://console.example.com'
const samples = Object.values(SAMPLE_ALERTS).map(make => make())
const cardOf = (alert: Alert, publicUrl: string | null = CONSOLE) =>
  teamsMessage(alert, settingWith(publicUrl)).attachments[0].content
const textsOf = (alert: Alert) => cardOf(alert).body.map(({ inlines }) => inlines.map(({ text }) => text).join(''))

describe('a Teams message', () => {
  test.each([...samples, sampleChannelIncident()])('has the official shape: $event', alert => {
    expect(refusalOf('teams', JSON.stringify(teamsMessage(alert, settingWith(CONSOLE))))).toBeUndefined()
  })

  test('has a title, the summary, facts, what to do, links and a footer', () => {
    const texts = textsOf(sampleIncident())
    expect(texts[0]).toContain('refund of EUR 1,249.90')
    expect(texts).toContain('Payment: 2014-7788')
    expect(texts).toContain('If a stranger made this, revoke the key or login behind request req_8fKx2mQpLw.')
    expect(texts.at(-1)).toMatch(/^Backstop · inc_6g2p0n4r8t1w5y9b$/)
    expect(cardOf(sampleIncident()).actions).toEqual([
      {
        type: 'Action.OpenUrl',
        title: 'Open in the console',
        url: `${CONSOLE}/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b`,
      },
      { type: 'Action.OpenUrl', title: "Provider's page", url: expect.stringMatching(/^https:/) },
      ...['acknowledge', 'ours', 'silence'].map(act => ({
        type: 'Action.OpenUrl',
        title: expect.any(String),
        url: `${CONSOLE}/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b?do=${act}`,
      })),
    ])
    expect(cardOf(SAMPLE_ALERTS['run.failed'](), null).actions).toEqual([])
  })

  test('shows Markdown in its data as plain text', () => {
    const hostile = '[your bank](https://evil.example) **now**'
    const card = cardOf(sampleAction({ customer: { id: null, name: hostile, email: null } }))
    expect(JSON.stringify(card)).toContain(hostile)
    expect(new Set(card.body.map(({ type }) => type))).toEqual(new Set(['RichTextBlock']))
  })

  test.each(['😀', '€', '\\'])('stays within the limits of Teams with very long data of %s', character => {
    const long = character.repeat(40_000)
    const origin = {
      channel: 'dashboard',
      key_name: long,
      user: long,
      request_id: long,
      idempotency_key: long,
    } as const
    const customer = { id: long, name: long, email: long }
    const payment = { number: long, plan: long, refund_reason: long, destination: long }
    const body = JSON.stringify(teamsMessage(sampleAction({ origin, customer, payment }), settingWith(CONSOLE, long)))
    expect(refusalOf('teams', body)).toBeUndefined()
    expect(body.isWellFormed()).toBe(true)
  })
})
