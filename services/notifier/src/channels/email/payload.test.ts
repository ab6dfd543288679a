import { describe, expect, test } from 'vitest'
import { alert, emailChannel } from '../../../test/fixtures.ts'
import { isSingleAddress, validAddresses } from './config.ts'
import { mailContent } from './payload.ts'

describe('a mail', () => {
  test('says the same in its text and in its HTML', () => {
    const { subject, text, html } = mailContent(alert(), 'https://console.example.com', 'Backstop')
    expect(subject).toBe('[Backstop] Unexplained refund of EUR 24.99')
    for (const part of ['EUR 24.99', 're_1', 'pi_1', 'inc_alr_1', 'https://console.example.com/incidents/inc_alr_1']) {
      expect(text).toContain(part)
      expect(html).toContain(part)
    }
  })

  test('holds no markup and no further header from its data', () => {
    const summary = '<img src=x onerror=alert(1)>\r\nBcc: everyone@example.com'
    const { html, subject } = mailContent(
      alert({ incident: { summary, connection_id: '"><script>' } }),
      null,
      'Backstop',
    )
    expect(html).not.toMatch(/<img|<script/)
    expect(subject).not.toMatch(/[\r\n]/)
  })

  test('fetches nothing', () => {
    expect(mailContent(alert(), null, 'Backstop').html).not.toMatch(/\bsrc=|url\(|<link|@import/)
  })
})

describe('an address', () => {
  test.each([
    { address: 'ops@example.com', valid: true },
    { address: 'ops+alerts@mail.example.co.uk', valid: true },
    { address: "o'brien@example.com", valid: true },
    { address: 'root@localhost', valid: true },
    { address: 'two@example.com, three@example.com', valid: false },
    { address: 'Ops <ops@example.com>', valid: false },
    { address: 'group:ops@example.com;', valid: false },
    { address: 'ops@example.com\r\nBcc: x@example.com', valid: false },
    { address: '"a b"@example.com', valid: false },
    { address: 'ops(comment)@example.com', valid: false },
    { address: 'ops@-example.com', valid: false },
    { address: 'ops@example..com', valid: false },
    { address: '.ops@example.com', valid: false },
    { address: 'ops@[127.0.0.1]', valid: false },
    { address: 'ops', valid: false },
    { address: '', valid: false },
    { address: `${'a'.repeat(65)}@example.com`, valid: false },
    { address: `a@${'b'.repeat(60)}.${'c.'.repeat(100)}example`, valid: false },
  ])('$address is one plain address: $valid', ({ address, valid }) => expect(isSingleAddress(address)).toBe(valid))

  test('that is not one plain address is left out, and none is written to twice', () => {
    const channel = emailChannel('chn_1', ['a@example.com', 'b@example.com, c@example.com', 'a@example.com'])
    expect(validAddresses(channel as Parameters<typeof validAddresses>[0])).toEqual(['a@example.com'])
  })
})
