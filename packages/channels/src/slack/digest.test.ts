import { describe, expect, test } from 'vitest'
import { sampleIncident, settingWith } from '../../test/samples.ts'
import { DIGEST_LIMITS } from '../alert-text/describe-digest.ts'
import { SAMPLE_ALERTS } from '../alert-text/sample-alerts.ts'
import { digestMessage, digestWithoutBlocks } from './digest.ts'

const flood = (count: number) =>
  Array.from({ length: count }, (_, index) => sampleIncident({ incident_id: `inc_${index}` }))
const textsOf = ({ blocks = [] }: ReturnType<typeof digestMessage>) =>
  blocks.flatMap(block =>
    block.type === 'section' && 'text' in block && block.text.type === 'mrkdwn' ? [block.text.text] : [],
  )

describe('a digest', () => {
  test('names every alert in order, each with its link and the names that people know', () => {
    const message = digestMessage(flood(100), settingWith('https://console.example.com'))
    const lines = textsOf(message).join('\n').split('\n')
    expect(lines).toHaveLength(100)
    lines.forEach((line, index) => {
      expect(line).toBe(
        `• <https://console.example.com/p/prj_sample/incidents/inc_${index}|Unexplained refund of EUR 1,249.90 · Jana Novak · Shop Germany · 2014-7788>`,
      )
    })
    expect(message.text).toMatch(/^100 alerts in one message: 100 unexplained refunds, EUR 124,990\.00 in total\n/)
  })

  test('has one line for an incident whatever happened to it, with its id if there are no links', () => {
    const happened = [SAMPLE_ALERTS['incident.opened'](), SAMPLE_ALERTS['incident.resolved']()]
    expect(textsOf(digestMessage(happened, settingWith()))).toEqual([
      '• Opened and resolved: the refund of EUR 1,249.90 is explained · Jana Novak · Shop Germany · 2014-7788 · inc_6g2p0n4r8t1w5y9b',
    ])
  })

  test('stays within Slack’s limits and mentions nobody, whatever the names of its alerts', () => {
    const hostile = Array.from({ length: DIGEST_LIMITS.most }, (_, index) =>
      sampleIncident({ incident_id: `${index}${'<!channel>&'.repeat(200)}` }),
    )
    const message = digestMessage(hostile, settingWith('https://console.example.com'))
    expect(message.blocks?.length).toBeLessThanOrEqual(50)
    for (const text of textsOf(message)) expect(text.length).toBeLessThanOrEqual(3_000)
    expect(message.text.length).toBeLessThanOrEqual(4_000)
    expect(digestWithoutBlocks(hostile, settingWith()).text.length).toBeLessThanOrEqual(40_000)
    for (const text of [message.text, digestWithoutBlocks(hostile, settingWith()).text])
      expect(text).not.toMatch(/<[!@#h]/)
    for (const text of textsOf(message)) expect(text).not.toMatch(/<[!@#]/)
  })

  test('distinguishes alerts with long names by both ends of their reference', () => {
    const failed = (last: string) => {
      const alert = SAMPLE_ALERTS['run.failed']()
      if (alert.event !== 'run.failed') throw new Error('It is another alert')
      return {
        ...alert,
        data: { ...alert.data, run: { ...alert.data.run, run_id: `nightly-${'🧾'.repeat(100)}${last}` } },
      }
    }
    const [text = ''] = textsOf(digestMessage([failed('a'), failed('b')], settingWith()))
    expect(text.split('\n')).toEqual([
      expect.stringMatching(/^• Run nightly-.*… · nightly-.*…🧾+a$/u),
      expect.stringMatching(/^• Run nightly-.*… · nightly-.*…🧾+b$/u),
    ])
    expect(text.isWellFormed()).toBe(true)
  })

  test('without blocks names every alert', () => {
    expect(digestWithoutBlocks(flood(100), settingWith()).text.split('\n')).toHaveLength(101)
  })
})
