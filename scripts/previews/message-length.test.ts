import { previewMessage } from '@backstop/channels'
import { settingWith } from '@backstop/channels/test'
import { ChannelKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { previewedAlerts } from './sample-alerts.ts'

/** A mail has the first steps, too. A new kind has the limit of chats. */
const mostWordsOf = (kind: ChannelKind) => (kind === 'email' ? 150 : 80)

/** The longest texts that people and software can give with an incident, an operation or a run. */
const LONG = 'The parcel was late and the customer asked for the money. '.repeat(17)
const SAID = new Set(['note', 'reason'])
const isSaid = (key: string, value: unknown, of: object) =>
  SAID.has(key) && typeof value === 'string' && (key === 'note' || !('code' in of || 'verdict' in of))

/** An alert with the longest texts in place of those that people and software gave. */
function withLongTexts<T>(alert: T): T {
  if (Array.isArray(alert)) return alert.map(withLongTexts) as T
  if (typeof alert !== 'object' || alert === null) return alert
  const entries = Object.entries(alert).map(([key, value]) => [
    key,
    isSaid(key, value, alert) ? LONG : withLongTexts(value),
  ])
  return Object.fromEntries(entries) as T
}

const alerts = previewedAlerts().filter(({ name }) => !name.includes('awkward'))
const view = {
  branding: {},
  ...settingWith('https://backstop.example.com'),
  unsubscribeUrl: 'https://u',
  alsoSentTo: ['Pager', 'Finance'],
}

/** The words that a reader sees, those of buttons too: the page of the message without styles. Signs alone are no words. */
function wordsOf(html: string): string[] {
  const text = html
    .replace(/^[\s\S]*<body[^>]*>/, '')
    .replace(/<style[\s\S]*?<\/style>|<!--[\s\S]*?-->|<div style="display:none[\s\S]*?<\/div>/g, ' ')
    .replace(/<\/?(b|strong|span|em)\b[^>]*>/g, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/&[a-z#0-9]+;/g, '’')
  return text.split(/\s+/).filter(word => /[\p{L}\p{N}]/u.test(word))
}

describe.each(ChannelKind.options.flatMap(kind => (kind === 'webhook' ? [] : [kind])))('a message of %s', kind => {
  test.each(alerts)('about $name is short', ({ alert }) => {
    const { html } = previewMessage(kind, { ...view, alert })
    const words = wordsOf(html ?? '')
    expect(words.length, words.join(' ')).toBeLessThanOrEqual(mostWordsOf(kind))
  })

  test.each(alerts)('about $name is short also with the longest texts of people', ({ alert }) => {
    const words = wordsOf(previewMessage(kind, { ...view, alert: withLongTexts(alert) }).html ?? '')
    expect(words.length, words.join(' ')).toBeLessThanOrEqual(mostWordsOf(kind))
  })
})
