import { describe, expect, test } from 'vitest'
import { sampleIncident, settingWith } from '../../test/samples.ts'
import { DIGEST_LIMITS, describeDigest } from '../alert-text/describe-digest.ts'
import { SAMPLE_ALERTS, SAMPLE_READER } from '../alert-text/sample-alerts.ts'
import { digestMessage } from '../slack/digest.ts'
import { renderDigestMail } from './digest.ts'

const flood = (count: number, more: string = '') =>
  Array.from({ length: count }, (_, index) => sampleIncident({ incident_id: `inc_${index}${more}` }))

function render(alerts = flood(25), publicUrl: string | null = 'https://console.example.com') {
  const unsubscribeUrl = 'https://api.example.com/v1/unsubscribe/token'
  return renderDigestMail({
    alerts,
    digestId: 'dlv_digest',
    branding: {},
    ...settingWith(publicUrl),
    unsubscribeUrl,
  })
}

describe('a digest by mail', () => {
  test('states the number, the kinds and the sums in its subject and its first sentence', () => {
    const { subject, text } = render()
    expect(subject).toBe('[Backstop] 25 alerts in one message: 25 unexplained refunds, EUR 31,247.50 in total')
    expect(text).toContain('\n25 unexplained refunds, EUR 31,247.50 in total.\n')
  })

  test('names every alert with its link, in order, as text and as HTML', () => {
    const { text, html } = render(flood(100))
    for (const content of [text, html]) {
      const links = [...content.matchAll(/https:\/\/console\.example\.com\/p\/\w+\/incidents\/(inc_\d+)/g)].map(
        ([, id]) => id,
      )
      expect([...new Set(links)]).toEqual(flood(100).map((_, index) => `inc_${index}`))
    }
  })

  test('says the same as a digest of Slack', () => {
    const alerts = Object.values(SAMPLE_ALERTS).map(make => make())
    const { text } = render(alerts)
    const slack = digestMessage(alerts, settingWith()).text
    for (const { title } of describeDigest(alerts, SAMPLE_READER).entries) {
      expect(text).toContain(title)
      expect(slack).toContain(title.replaceAll('&', '&amp;'))
    }
  })

  test.each(['https://console.example.com', null])('has no gap and no empty link with the console %s', publicUrl => {
    const { subject, text, html } = render(flood(3), publicUrl)
    expect(subject + text + html).not.toMatch(/\{\{|\}\}|undefined|null|href=""/)
  })

  test('is small enough not to be clipped by mail programs, and gains no markup, whatever its data', () => {
    const { html } = render(flood(DIGEST_LIMITS.most, '<img src=x>&"'.repeat(200)))
    expect(Buffer.byteLength(html)).toBeLessThan(102_000)
    expect(html).not.toContain('<img src=x>')
  })

  test('has the link that unsubscribes its recipient', () => {
    const { text, html } = render()
    for (const content of [text, html]) expect(content).toContain('https://api.example.com/v1/unsubscribe/token')
  })
})
