import type { Alert } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { refusalOf } from '../../test/official-shapes.ts'
import { SAMPLE_ALERTS, sampleChannelIncident, sampleIncident } from '../alert-text/sample-alerts.ts'
import { teamsMessage } from './message.ts'

const CONSOLE = 'https://console.example.com'
const samples = Object.values(SAMPLE_ALERTS).map(make => make())
const cardOf = (alert: Alert, publicUrl: string | null = CONSOLE) =>
  teamsMessage(alert, publicUrl, 'Backstop').attachments[0].content
const textsOf = (alert: Alert) => cardOf(alert).body.map(({ inlines }) => inlines.map(({ text }) => text).join(''))

describe('a Teams message', () => {
  test.each([...samples, sampleChannelIncident()])('has the official shape: $event', alert => {
    expect(refusalOf('teams', JSON.stringify(teamsMessage(alert, CONSOLE, 'Backstop')))).toBeUndefined()
  })

  test('has a title, the summary, facts, a link and a footer', () => {
    const texts = textsOf(sampleIncident())
    expect(texts[0]).toContain('refund of EUR 1,249.90')
    expect(texts).toContain('Payment: pi_3QK5vLAbCdEfGhIj0aBcDeFg')
    expect(texts.at(-1)).toBe('Backstop · inc_6g2p0n4r8t1w5y9b')
    expect(cardOf(sampleIncident()).actions).toEqual([
      { type: 'Action.OpenUrl', title: 'Open', url: `${CONSOLE}/incidents/inc_6g2p0n4r8t1w5y9b` },
    ])
    expect(cardOf(sampleIncident(), null).actions).toEqual([])
  })

  test('shows Markdown in its data as plain text', () => {
    const hostile = '[your bank](https://evil.example) **now**'
    const card = cardOf(sampleIncident({ summary: hostile }))
    expect(JSON.stringify(card)).toContain(hostile)
    expect(new Set(card.body.map(({ type }) => type))).toEqual(new Set(['RichTextBlock']))
  })

  test.each(['😀', '€', '\\'])('stays within the limits of Teams with very long data of %s', character => {
    const long = character.repeat(40_000)
    const body = JSON.stringify(teamsMessage(sampleIncident({ summary: long, connection_id: long }), CONSOLE, long))
    expect(refusalOf('teams', body)).toBeUndefined()
    expect(body.isWellFormed()).toBe(true)
  })
})
