import { readFileSync } from 'node:fs'
import type { Alert, Branding } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { compileMailTemplate } from '../../scripts/compile-mail-template.ts'
import { sampleAction, sampleChannelIncident, settingWith } from '../../test/samples.ts'
import { SAMPLE_ALERTS } from '../alert-text/sample-alerts.ts'
import { fillTemplate } from './fill-template.ts'
import { renderMail } from './message.ts'

const opened = SAMPLE_ALERTS['incident.opened']()

function render(
  facts: { alert?: Alert; branding?: Branding; publicUrl?: string | null; unsubscribeUrl?: string } = {},
) {
  const { alert = opened, branding = {}, publicUrl = 'https://console.example.com', unsubscribeUrl = null } = facts
  return renderMail({ alert, branding, ...settingWith(publicUrl), unsubscribeUrl })
}

function withPayment(number: string): Alert {
  return sampleAction({ payment: { number, plan: null, refund_reason: null, destination: null } })
}

describe('a mail', () => {
  test('has the same content as text and as HTML', () => {
    const { subject, text, html } = render({ unsubscribeUrl: 'https://api.example.com/v1/unsubscribe/token' })
    expect(subject).toBe('[Backstop] Unexplained refund of EUR 1,249.90 · Jana Novak · Shop Germany')
    const link = 'https://console.example.com/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b'
    for (const part of ['EUR 1,249.90', '2014-7788', link, 'https://api.example.com/v1/unsubscribe/token']) {
      expect(text).toContain(part)
      expect(html).toContain(part)
    }
  })

  test('has what to do with its first two steps, the links and the reference in its text part', () => {
    const { text } = render()
    expect(text).toMatch(
      /\nIf a stranger made this, revoke the key or login behind request req_8fKx2mQpLw\.\n1\. Some card refunds.*\n2\. /,
    )
    expect(text).not.toContain('\n3. ')
    expect(text).toContain(
      'Open in the console: https://console.example.com/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b\n',
    )
    expect(text).toContain("Provider's page: https://dashboard.stripe.com/payments/pi_3QK5vLAbCdEfGhIj0aBcDeFg\n")
    expect(text).toContain('Reference: inc_6g2p0n4r8t1w5y9b\n')
  })

  test('says which other channels get the alert', () => {
    const { text, html } = renderMail({
      ...{ alert: opened, branding: {}, ...settingWith(), unsubscribeUrl: null, alsoSentTo: ['Pager', 'Finance'] },
    })
    for (const content of [text, html]) expect(content).toContain('Also sent to Pager, Finance')
  })

  test.each(Object.entries({ ...SAMPLE_ALERTS, 'a disabled channel': sampleChannelIncident }))(
    'about %s has no unfilled placeholder and no empty link, and is small enough not to be clipped by mail programs',
    (_, sample) => {
      for (const publicUrl of ['https://console.example.com', null]) {
        const { html, text, subject } = render({ alert: sample(), publicUrl })
        expect(html + text + subject).not.toMatch(/\{\{|\}\}|undefined|null|href=""|src=""/)
        expect(Buffer.byteLength(html)).toBeLessThan(102_000)
      }
    },
  )

  test('gains no markup and no header from the content of the alert', () => {
    const { html, subject } = render({
      alert: withPayment('<img src=x onerror=alert(1)>\r\nBcc: everyone@example.com {{name}} {{#logo}}'),
      branding: { name: 'A\r\nBcc: b@example.com', footer: '<script>1</script>' },
    })
    expect(html).not.toMatch(/<img|<script/)
    // Placeholders in the content of an alert are not replaced.
    expect(html).toContain('{{name}} {{#logo}}')
    expect(subject).not.toMatch(/[\r\n]/)
  })

  test('loads nothing from the network without a logo', () => {
    expect(render().html).not.toMatch(/\bsrc=|url\(|<link|@import|https?:\/\/(?!console\.|dashboard\.|www\.w3\.org)/)
  })

  test('has styles for dark mode and phones, a language and a title', () => {
    const { html } = render()
    for (const part of [
      'prefers-color-scheme: dark',
      'max-width: 480px',
      '<html lang="en"',
      '<title>Unexplained refund',
    ])
      expect(html).toContain(part)
  })
})

describe('branding', () => {
  test("replaces Backstop's name, logo, colour and footer with the project's", () => {
    const branding = {
      name: 'Acme & Sons',
      logo_url: 'https://acme.example/logo.png',
      accent_colour: '#FFCC00',
      footer: 'Acme & Sons\n1 Main Street',
    }
    const { html, text, subject } = render({ branding })
    expect(subject).toMatch(/^\[Acme & Sons\] /)
    expect(html).toMatch(/<img[^>]*alt="Acme &amp; Sons"[^>]*src="https:\/\/acme\.example\/logo\.png"/)
    expect(html).toContain('background:#ffcc00;color:#101828')
    expect(html).toContain('1 Main Street')
    expect(text).toContain('Acme & Sons\n1 Main Street\n')
    expect(html + text).not.toContain('Backstop')
  })

  test.each<{ name: string; branding: Branding; without: RegExp }>([
    { name: 'a logo with an http: URL', branding: { logo_url: 'http://acme.example/logo.png' }, without: /<img/ },
    {
      name: 'a logo with a javascript: URL',
      branding: { logo_url: 'javascript:alert(1)' },
      without: /<img|javascript/,
    },
    { name: 'a logo with a quote', branding: { logo_url: 'https://a.example/"x' }, without: /<img/ },
    { name: 'a colour with more CSS behind it', branding: { accent_colour: '#fff;x:url(//a)' }, without: /url\(/ },
  ])('leaves out $name', ({ branding, without }) => expect(render({ branding }).html).not.toMatch(without))
})

describe('the compiled template', () => {
  test('equals the compiled template.mjml; otherwise run npm run mail-template', { timeout: 60_000 }, async () => {
    const kept = readFileSync(new URL('generated/mail-template.ts', import.meta.url), 'utf8')
    expect(kept).toBe(await compileMailTemplate())
  })
})

describe('a template', () => {
  test.each([
    { name: 'a value', template: 'a {{x}} b', filled: 'a &lt;1&gt; b' },
    { name: 'a block for a present value', template: '{{#x}}yes {{x}}{{/x}}{{^x}}no{{/x}}', filled: 'yes &lt;1&gt;' },
    { name: 'a block for an absent value', template: '{{#none}}yes{{/none}}{{^none}}no{{/none}}', filled: 'no' },
    { name: 'a list', template: '{{#list}}[{{y}}{{x}}]{{/list}}', filled: '[1&lt;1&gt;][2&lt;1&gt;]' },
    { name: 'an empty list', template: '{{#empty}}x{{/empty}}{{^empty}}none{{/empty}}', filled: 'none' },
  ])('is filled with $name', ({ template, filled }) => {
    const values = { x: '<1>', none: null, list: [{ y: '1' }, { y: '2' }], empty: [] }
    expect(fillTemplate(template, values)).toBe(filled)
  })

  test('that names a value which is not given throws', () => expect(() => fillTemplate('{{x}}', {})).toThrow('names x'))
})
