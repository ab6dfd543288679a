import { type MailContent, renderMail, SAMPLE_ALERTS, sampleChannelIncident } from '@backstop/alert-views'
import type { Alert, Branding } from '@backstop/contracts'

/** A logo that needs no network: a mail program would fetch the project's own. */
const BRANDED: Branding = {
  name: 'Acme Games',
  accent_colour: '#ffb020',
  footer: 'Acme Games GmbH · Hauptstraße 1 · 10115 Berlin\nBilling on call: +49 30 1234567',
}

/** Long words, long names, no link and no way to leave: what is seldom and must not break. */
function awkward(): Alert {
  const alert = SAMPLE_ALERTS['incident.opened']()
  if (alert.event !== 'incident.opened' || alert.data.action === null) throw new Error('The sample is of another event')
  const { incident, action } = alert.data
  const subject = `sub_${'0123456789abcdef'.repeat(8)}`
  const summary = `A cancellation of ${subject} was made. <b>Not bold</b> & “quoted”; ägypten 退款 🧾`
  return {
    ...alert,
    data: {
      incident: { ...incident, summary },
      action: { ...action, kind: 'cancellation', subject, amount: null, currency: null, provider_ref: null },
    },
  }
}

/** Every mail that people can get, in the looks that it can have. */
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
        alert: awkward(),
        branding: { logo_url: 'https://logo.invalid/logo.png' },
        publicUrl: null,
        unsubscribeUrl: null,
      },
    },
  ]
  return samples.map(({ name, view }) => ({ name, mail: renderMail(view) }))
}
