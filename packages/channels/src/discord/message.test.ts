import type { Alert } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { refusalOf } from '../../test/official-shapes.ts'
import {
  sampleAction,
  sampleChannelIncident,
  sampleConnectionIncident,
  sampleIncident,
  settingWith,
} from '../../test/samples.ts'
import { SAMPLE_ALERTS } from '../alert-text/sample-alerts.ts'
import { discordMessage, escapeMarkdown } from './message.ts'

const CONSOLE = 'https://console.example.com'
const samples = Object.values(SAMPLE_ALERTS).map(make => make())
const embedOf = (alert: Alert, publicUrl: string | null = CONSOLE) =>
  discordMessage(alert, settingWith(publicUrl)).embeds[0]

describe('a Discord message', () => {
  test.each([...samples, sampleChannelIncident()])('has the official shape: $event', alert => {
    expect(refusalOf('discord', JSON.stringify(discordMessage(alert, settingWith(CONSOLE))))).toBeUndefined()
  })

  test('has a title, then the summary, the facts, what to do and the links, and a footer', () => {
    const page = `${CONSOLE}/p/prj_sample/incidents/inc_6g2p0n4r8t1w5y9b`
    const { title, description, url, footer } = embedOf(sampleIncident())
    expect(title).toContain('refund of EUR 1,249.90')
    const [summary, facts, whatToDo, links] = description.split('\n\n')
    expect(summary).toMatch(/^25 × what your software reported/)
    expect(facts).toContain('**Payment:** 2014-7788\n')
    expect(whatToDo).toBe('If a stranger made this, revoke the key or login behind request req\\_8fKx2mQpLw.')
    expect(links).toContain(`[Open in the console](${page}) · [Provider's page](https://dashboard.`)
    expect(url).toBe(page)
    expect(footer.text).toBe('Backstop · inc_6g2p0n4r8t1w5y9b')
    expect(embedOf(SAMPLE_ALERTS['run.failed'](), null)).not.toHaveProperty('url')
  })

  test('has links that data cannot end early', () => {
    const links = { provider: 'https://dashboard.example.com/a)b(c', console: null }
    expect(embedOf(sampleAction({ links })).description).toMatch(/\(https:\/\/dashboard\.example\.com\/a%29b%28c\) · /)
  })

  test('mentions nobody and shows Markdown in its data as plain text', () => {
    const message = discordMessage(
      sampleConnectionIncident('FEED_SILENT', '@everyone [bank](https://evil.example) **now**'),
      settingWith(),
    )
    expect(message.allowed_mentions).toEqual({ parse: [] })
    expect(message.embeds[0].description).toContain(
      '\\@everyone \\[bank\\]\\(https\\://evil.example\\) \\*\\*now\\*\\*',
    )
  })

  test.each(['😀', '€', '\\', '*'])('stays within the limits of Discord with very long data of %s', character => {
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
    const alert = sampleAction({ origin, customer, payment })
    const body = JSON.stringify(discordMessage(alert, settingWith(CONSOLE, long)))
    expect(refusalOf('discord', body)).toBeUndefined()
    expect(body.isWellFormed()).toBe(true)
  })
})

test.each([
  { name: 'emphasis', text: '*a* _b_ ~~c~~ ||d||', shown: '\\*a\\* \\_b\\_ \\~\\~c\\~\\~ \\|\\|d\\|\\|' },
  { name: 'a list', text: '- a\n- b', shown: '\\- a\n\\- b' },
  { name: 'a heading and a quote', text: '# a\n> b', shown: '\\# a\n\\> b' },
  { name: 'a bare link', text: 'http://evil.example', shown: 'http\\://evil.example' },
  { name: 'a mention', text: '<@1> @here', shown: '\\<\\@1\\> \\@here' },
  { name: 'a time and an amount', text: '10:00:00, EUR -1.50', shown: '10:00:00, EUR -1.50' },
])('escapes $name', ({ text, shown }) => expect(escapeMarkdown(text)).toBe(shown))
