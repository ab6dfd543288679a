import { previewMessage } from '@backstop/channels'
import { settingWith } from '@backstop/channels/test'
import { ChannelKind } from '@backstop/contracts'
import { describe, expect, test } from 'vitest'
import { previewedAlerts } from './sample-alerts.ts'

/** A mail has the first steps, too. A new kind has the limit of chats. */
const mostWordsOf = (kind: ChannelKind) => (kind === 'email' ? 150 : 80)

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
})
