import { describe, expect, test } from 'vitest'
import { alert, incidentAlerts } from '../../../test/fixtures.ts'
import { DIGEST, digestInWords, digestMessage } from './digest.ts'

const flood = (count: number, summary = 'x') =>
  Array.from({ length: count }, (_, index) => alert({ id: `alr_${index}`, incident: { summary } }))
const textsOf = ({ blocks = [] }: ReturnType<typeof digestMessage>) =>
  blocks.flatMap(block => (block.type === 'section' ? [(block.text as { text: string }).text] : []))

describe('a digest', () => {
  test('names every alert that it folds, in their order, each with its link', () => {
    const message = digestMessage(flood(100), 'https://console.example.com', 'Backstop')
    const lines = textsOf(message).join('\n').split('\n')
    expect(lines).toHaveLength(100)
    lines.forEach((line, index) => {
      expect(line).toBe(
        `• <https://console.example.com/incidents/inc_alr_${index}|Unexplained refund of EUR 24.99 · inc_alr_${index}>`,
      )
    })
    expect(message.text).toMatch(/^100 alerts at once:/)
  })

  test('tells what was opened from what was resolved', () => {
    const { opened, resolved } = incidentAlerts('inc_1')
    expect(textsOf(digestMessage([opened, resolved], null, 'Backstop'))).toEqual([
      '• Unexplained refund of EUR 24.99 · inc_1\n• Resolved: the refund of EUR 24.99 is explained · inc_1',
    ])
  })

  test('keeps to Slack’s limits and mentions nobody, whatever its alerts are called', () => {
    const hostile = Array.from({ length: DIGEST.most }, (_, index) =>
      alert({ id: `${index}`, incident: { incident_id: '<!channel>&'.repeat(200) } }),
    )
    const message = digestMessage(hostile, 'https://console.example.com', 'Backstop')
    expect(message.blocks?.length).toBeLessThanOrEqual(50)
    for (const text of textsOf(message)) expect(text.length).toBeLessThanOrEqual(3_000)
    expect(message.text.length).toBeLessThanOrEqual(4_000)
    expect(digestInWords(hostile).text.length).toBeLessThanOrEqual(40_000)
    for (const text of [message.text, digestInWords(hostile).text]) expect(text).not.toMatch(/<[!@#h]/)
    for (const text of textsOf(message)) expect(text).not.toMatch(/<[!@#]/)
  })

  test('in words still names all', () => {
    expect(digestInWords(flood(100)).text.split('\n')).toHaveLength(101)
  })
})
