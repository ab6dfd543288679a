import { previewMessage } from '@backstop/channels'
import { settingWith } from '@backstop/channels/test'
import { ChannelKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { previewedAlerts } from './sample-alerts.ts'

/** A mail has the first steps, too. A new kind has the limit of chats. */
const mostWordsOf = (kind: ChannelKind) => (kind === 'email' ? 150 : 80)

/** The longest text that people and software can give with an incident, an operation or a run. */
const LONG = 'The parcel was late and the customer asked for the money. '.repeat(17)

/** The longest texts of people and software: a note of an incident, a reason of an operation or a run. */
function textsOf(thing: object): object {
  if ('incident_id' in thing && 'opened_at' in thing) return { note: LONG }
  if ('operation_id' in thing && 'created_at' in thing) return { reason: LONG }
  return 'failed_at' in thing ? { reason: LONG } : {}
}

/** An alert with the longest texts in place of those that people and software gave, or did not give. */
function withLongTexts<T>(alert: T): T {
  if (Array.isArray(alert)) return alert.map(withLongTexts) as T
  if (typeof alert !== 'object' || alert === null) return alert
  const entries = Object.entries({ ...alert, ...textsOf(alert) }).map(([key, value]) => [
    key,
    value === LONG ? value : withLongTexts(value),
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
