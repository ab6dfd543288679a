import { describe, expect, test } from 'vitest'
import { SAMPLE_ALERTS, sampleIncident } from '../alert-text/sample-alerts.ts'
import { escapeMrkdwn, slackMessage, slackText, truncate } from './message.ts'

const hostile = '<!channel> & <@U123> <https://evil.example|your bank>'

describe('a Slack message', () => {
  test('has a header, the summary, facts, a button and a fallback text', () => {
    const message = slackMessage(sampleIncident(), 'https://console.example.com', 'Backstop')
    expect(message.blocks?.map(block => block.type)).toEqual(['header', 'section', 'section', 'actions', 'context'])
    expect(message.text).toContain('Unexplained refund of EUR 1,249.90')
    expect(JSON.stringify(message)).toContain('"url":"https://console.example.com/incidents/inc_6g2p0n4r8t1w5y9b"')
  })

  test('has no button without a console, and none for a test', () => {
    expect(JSON.stringify(slackMessage(sampleIncident(), null, 'Backstop'))).not.toContain('"actions"')
    expect(
      JSON.stringify(slackMessage(SAMPLE_ALERTS['channel.test'](), 'https://c.example', 'Backstop')),
    ).not.toContain('"actions"')
  })

  test('mentions nobody and links nowhere, whatever its data', () => {
    const message = slackMessage(sampleIncident({ summary: hostile, connection_id: hostile }), null, 'Backstop')
    // Slack interprets the fallback text and the mrkdwn fields, and shows plain text unchanged.
    const interpreted = [message.text, ...fieldsOf(message)]
    for (const text of interpreted) expect(text).not.toMatch(/<[!@#]|<https?:/)
  })

  test('stays within Slack’s limits, whatever its data', () => {
    const long = '😀&<'.repeat(3_000)
    const message = slackMessage(sampleIncident({ summary: long, connection_id: long }), null, 'Backstop')
    expect(message.text.length).toBeLessThanOrEqual(4_000)
    for (const text of fieldsOf(message)) expect(text.length).toBeLessThanOrEqual(2_000)
    const summary = message.blocks?.[1]
    expect(summary !== undefined && 'text' in summary && summary.text.text.length).toBeLessThanOrEqual(3_000)
    expect((message.blocks ?? []).length).toBeLessThanOrEqual(50)
    expect(slackText(sampleIncident({ summary: long }))).not.toMatch(/&[a-z]*…$/)
  })
})

test.each([
  { name: 'a text that fits', text: 'abc', limit: 3, cutTo: 'abc' },
  { name: 'a text that is too long', text: 'abcd', limit: 3, cutTo: 'ab…' },
  { name: 'a character of two units', text: 'a😀b', limit: 3, cutTo: 'a…' },
  { name: 'an entity', text: `a${escapeMrkdwn('<<')}`, limit: 7, cutTo: 'a&lt;…' },
])('cuts $name without dividing a character or an entity', ({ text, limit, cutTo }) => {
  expect(truncate(text, limit)).toBe(cutTo)
})

function fieldsOf(message: ReturnType<typeof slackMessage>): string[] {
  return (message.blocks ?? []).flatMap(block => ('fields' in block ? block.fields.map(field => field.text) : []))
}
