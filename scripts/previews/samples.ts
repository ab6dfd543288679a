import {
  type Preview,
  previewDigest,
  previewMessage,
  SAMPLE_ALERTS,
  SAMPLE_READER,
  slackPage,
  slackWithoutBlocks,
} from '@backstop/channels'
import { type Branding, ChannelKind } from '@backstop/contracts'
import { previewedAlerts } from './sample-alerts.ts'

const VIEW = {
  branding: {},
  brandName: 'Backstop',
  publicUrl: 'https://backstop.example.com',
  reader: SAMPLE_READER,
  unsubscribeUrl: 'https://api.backstop.example.com/v1/unsubscribe/v1.k1.token',
} as const

const BRANDED: Branding = {
  name: 'Acme Games',
  accent_colour: '#ffb020',
  footer: 'Acme Games GmbH · Hauptstraße 1 · 10115 Berlin\nBilling on call: +49 30 1234567',
}

export interface Sample extends Preview {
  readonly name: string
}

/** Every alert for every kind of channel, and the messages that only one kind has. */
export function allSamples(): Sample[] {
  const alerts = previewedAlerts()
  const withoutBlocks = slackWithoutBlocks(SAMPLE_ALERTS['incident.opened'](), VIEW)
  return [
    ...ChannelKind.options.flatMap(kind =>
      alerts.map(({ name, alert }) => ({ name: `${kind}.${name}`, ...previewMessage(kind, { ...VIEW, alert }) })),
    ),
    {
      name: 'email.branded',
      ...previewMessage('email', { ...VIEW, alert: SAMPLE_ALERTS['incident.opened'](), branding: BRANDED }),
    },
    ...ChannelKind.options.flatMap(kind => {
      const digest = previewDigest(kind, { ...VIEW, alerts: [...alerts, ...alerts].map(({ alert }) => alert) })
      return digest === null ? [] : [{ name: `${kind}.digest`, ...digest }]
    }),
    { name: 'slack.without-blocks', body: withoutBlocks, text: withoutBlocks.text, html: slackPage(withoutBlocks) },
  ]
}
