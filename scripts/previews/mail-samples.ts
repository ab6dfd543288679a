import {
  type MailContent,
  renderDigestMail,
  renderMail,
  SAMPLE_ALERTS,
  sampleChannelIncident,
} from '@backstop/channels'
import type { Branding } from '@backstop/contracts'
import { awkwardAlert } from './awkward-alert.ts'

/** Sample branding with a logo that needs no network. */
const BRANDED: Branding = {
  name: 'Acme Games',
  accent_colour: '#ffb020',
  footer: 'Acme Games GmbH · Hauptstraße 1 · 10115 Berlin\nBilling on call: +49 30 1234567',
}

/** Every kind of mail, with and without branding. */
export function mailSamples(): { name: string; mail: MailContent }[] {
  const shared = {
    branding: {} as Branding,
    brandName: 'Backstop',
    publicUrl: 'https://backstop.example.com' as string | null,
    unsubscribeUrl: 'https://api.backstop.example.com/v1/unsubscribe/v1.k1.token' as string | null,
  }
  const samples = [
    ...Object.entries(SAMPLE_ALERTS).map(([event, make]) => ({ name: event, view: { ...shared, alert: make() } })),
    { name: 'channel-disabled', view: { ...shared, alert: sampleChannelIncident() } },
    {
      name: 'incident.opened.branded',
      view: { ...shared, alert: SAMPLE_ALERTS['incident.opened'](), branding: BRANDED },
    },
    {
      name: 'incident.opened.awkward',
      view: {
        ...shared,
        alert: awkwardAlert(),
        branding: { logo_url: 'https://logo.invalid/logo.png' },
        publicUrl: null,
        unsubscribeUrl: null,
      },
    },
  ]
  const alerts = Array.from({ length: 3 }, () => Object.values(SAMPLE_ALERTS).map(make => make())).flat()
  return [
    ...samples.map(({ name, view }) => ({ name, mail: renderMail(view) })),
    { name: 'digest', mail: renderDigestMail({ ...shared, alerts, digestId: 'dlv_5t8w2q9r4y7u1i3o' }) },
  ]
}
